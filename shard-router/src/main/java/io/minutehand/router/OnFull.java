package io.minutehand.router;

/** What a call does when the router's buffer has no room for it. */
public enum OnFull {
    /** It blocks its caller until there is room, at most for the time that is set, and fails then. */
    BLOCK,
    /** It fails at once. */
    FAIL
}
