package io.minutehand.core.topic;

/** What a topic promises about how often a handler runs. */
public enum Delivery {
    /** The job is acknowledged after its handler returned: a crash in between runs it again. */
    AT_LEAST_ONCE,
    /** The job is acknowledged before its handler starts: a crash in between loses that run. Failures are not retried. */
    AT_MOST_ONCE
}
