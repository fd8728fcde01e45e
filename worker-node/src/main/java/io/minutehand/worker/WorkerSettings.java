package io.minutehand.worker;

import java.time.Duration;

/**
 * The times and sizes of a node. Nodes of one cluster should agree on them. Immutable.
 *
 * @param slots handlers at once, 1 to 10,000
 * @param lease how long a bucket stays claimed without a renewal, 10 min at most, as are deadAfter and claimAhead
 * @param renew how often leases are renewed, 10 ms to a third of the lease
 * @param beat how often the node says that it lives, 10 ms or more
 * @param deadAfter how long a node may be silent before it counts as dead, at least three beats
 * @param claimAhead how long before its minute a bucket is claimed, at least the idle look
 * @param busyLook longest sleep while a shard is busy, 10 ms or more
 * @param idleLook longest sleep while it is idle, 2.5 s at most (jobs due sooner wake the owner)
 * @param stopGrace how long a stop waits for handlers before they are interrupted, 0 to 24 h
 * @param ledgerCheck how often the ledger of each owned shard is checked, 10 ms to 10 min: one call a shard
 */
public record WorkerSettings(
        int slots,
        Duration lease,
        Duration renew,
        Duration beat,
        Duration deadAfter,
        Duration claimAhead,
        Duration busyLook,
        Duration idleLook,
        Duration stopGrace,
        Duration ledgerCheck) {
    private static final int MAX_SLOTS = 10_000;
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST_IDLE_LOOK = Duration.ofMillis(2500);
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final Duration LONGEST_GRACE = Duration.ofHours(24);

    private static final WorkerSettings DEFAULTS = new WorkerSettings(
            64,
            Duration.ofSeconds(6),
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            Duration.ofSeconds(3),
            Duration.ofMillis(250),
            Duration.ofSeconds(2),
            Duration.ofSeconds(30),
            Duration.ofSeconds(10));

    /**
     * Checks the ranges above, and the values against each other.
     *
     * @throws IllegalArgumentException that names the settings in conflict, their values, and what to change
     */
    public WorkerSettings {
        if (slots < 1 || slots > MAX_SLOTS) {
            throw new IllegalArgumentException("slots=" + slots + ", allowed are 1 to " + MAX_SLOTS);
        }
        requireLongest("lease", lease);
        requireLongest("deadAfter", deadAfter);
        requireLongest("claimAhead", claimAhead);
        requireShortest("renew", renew);
        requireShortest("beat", beat);
        requireShortest("busyLook", busyLook);
        requireShortest("ledgerCheck", ledgerCheck);
        if (ledgerCheck.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "ledgerCheck=" + ledgerCheck + ", allowed are at most " + LONGEST + ": losses would go unnoticed");
        }
        if (renew.compareTo(lease.dividedBy(3)) > 0) {
            throw new IllegalArgumentException("lease=" + lease + " < 3 x renew=" + renew
                    + ": two lost renewals would lose the lease; raise lease or lower renew");
        }
        if (beat.compareTo(deadAfter.dividedBy(3)) > 0) {
            throw new IllegalArgumentException("deadAfter=" + deadAfter + " < 3 x beat=" + beat
                    + ": a short pause would count as death; raise deadAfter or lower beat");
        }
        if (claimAhead.compareTo(idleLook) < 0) {
            throw new IllegalArgumentException("claimAhead=" + claimAhead + " < idleLook=" + idleLook
                    + ": a minute could begin unclaimed; raise claimAhead");
        }
        if (idleLook.compareTo(busyLook) < 0 || idleLook.compareTo(LONGEST_IDLE_LOOK) > 0) {
            throw new IllegalArgumentException("busyLook=" + busyLook + " idleLook=" + idleLook
                    + ", allowed is busyLook <= idleLook <= " + LONGEST_IDLE_LOOK);
        }
        if (stopGrace.isNegative() || stopGrace.compareTo(LONGEST_GRACE) > 0) {
            throw new IllegalArgumentException("stopGrace=" + stopGrace + ", allowed are 0 to " + LONGEST_GRACE);
        }
    }

    private static void requireLongest(String name, Duration value) {
        if (value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + "=" + value + ", allowed are at most " + LONGEST
                    + ": a dead node's buckets would wait that long");
        }
    }

    private static void requireShortest(String name, Duration value) {
        if (value.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException(name + "=" + value + ", allowed are 10 ms or more");
        }
    }

    /** The same with the default of what is not named: the ledgers are checked every 10 s. */
    public WorkerSettings(
            int slots,
            Duration lease,
            Duration renew,
            Duration beat,
            Duration deadAfter,
            Duration claimAhead,
            Duration busyLook,
            Duration idleLook,
            Duration stopGrace) {
        this(slots, lease, renew, beat, deadAfter, claimAhead, busyLook, idleLook, stopGrace, DEFAULTS.ledgerCheck());
    }

    /** 64 slots, lease 6 s renewed every 2 s, beat 1 s, dead after 5 s, claims 3 s ahead, looks every 250 ms to 2 s, grace 30 s. */
    public static WorkerSettings defaults() {
        return DEFAULTS;
    }

    public WorkerSettings withSlots(int value) {
        return new WorkerSettings(
                value, lease, renew, beat, deadAfter, claimAhead, busyLook, idleLook, stopGrace, ledgerCheck);
    }

    /** The same with another lease, renewed three times in it. */
    public WorkerSettings withLease(Duration value) {
        return new WorkerSettings(
                slots,
                value,
                value.dividedBy(3),
                beat,
                deadAfter,
                claimAhead,
                busyLook,
                idleLook,
                stopGrace,
                ledgerCheck);
    }

    /** The same with another verdict time, with five beats in it. */
    public WorkerSettings withDeadAfter(Duration value) {
        return new WorkerSettings(
                slots, lease, renew, value.dividedBy(5), value, claimAhead, busyLook, idleLook, stopGrace, ledgerCheck);
    }

    public WorkerSettings withStopGrace(Duration value) {
        return new WorkerSettings(
                slots, lease, renew, beat, deadAfter, claimAhead, busyLook, idleLook, value, ledgerCheck);
    }

    public WorkerSettings withLedgerCheck(Duration value) {
        return new WorkerSettings(
                slots, lease, renew, beat, deadAfter, claimAhead, busyLook, idleLook, stopGrace, value);
    }

    /** How much earlier than Redis a node gives a lease up: its own delays between the check and the pop. */
    Duration trustMargin() {
        return lease.dividedBy(12);
    }
}
