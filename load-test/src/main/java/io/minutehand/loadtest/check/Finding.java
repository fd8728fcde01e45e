package io.minutehand.loadtest.check;

/** What the checker can find wrong with a job. */
public enum Finding {
    /** Its schedule call was acknowledged, and at the end it is neither done nor dead nor cancelled. */
    LOST("lost"),
    /** A start beyond the first of the same attempt. */
    DUPLICATE("duplicate"),
    /** A start before the due time by the Redis clock, or a retry that is due sooner than its policy allows. */
    EARLY("early"),
    /** It ran although nobody offered it, or although its schedule call was refused. */
    UNEXPECTED("unexpected"),
    /** More than one handler run returned, or it is two of done, dead and cancelled. */
    TWO_ENDS("two ends"),
    /** Another attempt began after it was done or dead. */
    RUN_AFTER_END("run after its end"),
    /** It began after its cancellation had been confirmed. */
    RUN_AFTER_CANCEL("run after its cancellation"),
    /** Its first attempt had another due time than the producer asked for, and was not asked for too late. */
    DUE_CHANGED("due time changed");

    private final String words;

    Finding(String words) {
        this.words = words;
    }

    /** Returns the finding in words, for people. */
    public String words() {
        return words;
    }
}
