package io.minutehand.core.store;

/**
 * What a shard's ledger says of itself, in one atomic look.
 *
 * @param difference accepted jobs less all that are accounted for: 0 unless something was lost or changed by hand
 * @param pending the counter of waiting jobs
 * @param inFlight receipts
 * @param dead dead letters
 * @param orphans jobs whose record was lost; whoever met what named them counted them here and not among the difference
 * @param declared whether the shard knows its topic's settings; one that does not has never been used, or Redis came back empty
 */
public record LedgerState(long difference, long pending, long inFlight, long dead, long orphans, boolean declared) {
    static LedgerState of(Reply reply) {
        return new LedgerState(
                reply.number(1),
                reply.number(2),
                reply.number(3),
                reply.number(4),
                reply.number(5),
                reply.number(6) > 0);
    }
}
