package io.minutehand.core.store;

import java.util.Locale;

/** The scripts: one per transition, each in a file of its name under {@code io/minutehand/lua/}. */
public enum Script {
    SCHEDULE,
    POP,
    ACK,
    RETRY,
    BURY,
    EXTEND,
    RECOVER,
    CANCEL,
    RESCHEDULE,
    REDRIVE,
    PURGE,
    CLAIM,
    RENEW,
    RELEASE,
    BREAK,
    BEAT,
    REMOVE,
    DESCRIBE,
    TOPIC,
    TOPICS,
    EPOCH,
    FIND,
    LOOK,
    STATS,
    AUDIT,
    MEMBERS,
    ABSORB,
    RETIRE,
    SCAN,
    HEADS,
    PAGE,
    RECORDS,
    ENTRIES,
    LISTING,
    RECOUNT,
    LETTERS,
    BUCKETS,
    PROGRESS;

    /** The script's name: that of its file without the ending. */
    public String scriptName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
