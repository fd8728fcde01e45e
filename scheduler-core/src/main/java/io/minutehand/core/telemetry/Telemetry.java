package io.minutehand.core.telemetry;

/**
 * Where measurements go. Called from many threads at once and on hot paths: implementations are thread-safe, do not block and do not throw.
 */
public interface Telemetry {
    /** Measurements that go nowhere. */
    Telemetry NONE = new Telemetry() {
        @Override
        public void count(Counter counter, String topic, long events) {}

        @Override
        public void lateness(String topic, long latenessUs) {}

        @Override
        public void handlerTime(String topic, long elapsedUs) {}
    };

    /** A count of events. Names in metrics: {@code minutehand.<name in lower case with dots>}. */
    enum Counter {
        /** Jobs stored. */
        SCHEDULED,
        /** Jobs whose storing was refused or is unknown. */
        SCHEDULE_FAILED,
        /** Jobs handed out by pop. */
        POPPED,
        /** Jobs handed out by recover. */
        RECOVERED,
        /** Jobs done. */
        DONE,
        /** Failed attempts that run again. */
        RETRIED,
        /** Jobs handed back unrun. */
        NACKED,
        /** Dead letters made. */
        DEAD,
        /** Dead letters dropped for number or age. */
        DEAD_DROPPED,
        /** Completions refused because the job was no longer the node's. */
        STALE,
        /** Pops refused because the lease was lost. */
        FENCED,
        /** Records of a newer version that were left alone. */
        SKIPPED_NEWER,
        /** Handlers that ignored their time-out. */
        STUCK,
        /** Leases taken. */
        CLAIMED,
        /** Leases lost before they were released. */
        LEASE_LOST,
        /** Hints received. */
        WOKEN,
        /** Calls on Redis that failed. */
        STORE_ERRORS,
        /** Rows that a reconciliation looked at. */
        RECONCILE_ROWS,
        /** Rows that a reconciliation found without a job: drift between the ledger and Redis. */
        RECONCILE_MISSING,
        /** Rows that a reconciliation could not make a job of. */
        RECONCILE_REFUSED
    }

    /** A measure that rises and falls. Names in metrics as those of counters. */
    enum Gauge {
        /** Jobs of a topic's shards on this node that their ledgers cannot account for: anything but 0 is an alarm. */
        LEDGER_DIFF,
        /** Jobs of the same shards whose record was lost, ever. */
        ORPHANS
    }

    /** Counts events; {@code topic} is empty where there is none. */
    void count(Counter counter, String topic, long events);

    /** Says how a measure stands now. */
    default void gauge(Gauge gauge, String topic, long value) {}

    /** A handler started this long after its job was due, microseconds, 0 or more. */
    void lateness(String topic, long latenessUs);

    /** A handler took this long, microseconds, 0 or more. */
    void handlerTime(String topic, long elapsedUs);
}
