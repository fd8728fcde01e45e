package io.minutehand.core.job;

/** Where a job stands. {@link #canBecome} is the state table; the scripts are its only executors. */
public enum JobState {
    /** Waits in a bucket; a pop makes it in flight, a cancel ends it. */
    PENDING('P'),
    /** Handed to a node under a receipt; ack, retry or bury ends that, recover hands it to another node. */
    IN_FLIGHT('I'),
    /** Handled; a tombstone stays for the topic's retention. */
    DONE('D'),
    /** Given up after its last attempt; stays until it is redriven, purged, or beyond the topic's limits. */
    DEAD('X'),
    /** Ended by the caller before it ran; a tombstone stays for the topic's retention. */
    CANCELLED('C');

    private final char code;

    JobState(char code) {
        this.code = code;
    }

    /** The letter that records and tombstones carry. */
    public char code() {
        return code;
    }

    /**
     * Returns the state of a letter.
     *
     * @throws IllegalArgumentException for a letter that is none
     */
    public static JobState ofCode(char code) {
        for (JobState state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("no job state has the letter '" + code + "'");
    }

    /** Whether a job of this state may become {@code next} under the same schedule call. */
    public boolean canBecome(JobState next) {
        return switch (this) {
            case PENDING -> next == PENDING || next == IN_FLIGHT || next == CANCELLED;
            case IN_FLIGHT -> next == IN_FLIGHT || next == PENDING || next == DONE || next == DEAD;
            case DEAD -> next == PENDING;
            case DONE, CANCELLED -> false;
        };
    }

    /** Whether nothing follows but what a person does (a redrive). */
    public boolean ended() {
        return this == DONE || this == DEAD || this == CANCELLED;
    }
}
