package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.SingleServer;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The model test is worth what it catches: each of these defects, planted in a script, must make it fail. */
@SingleServer("it is about the model, which does not know what Redis it is compared with")
class PlantedBugsIT {
    private static final int SEQUENCES = 300;

    /** Calls that show any of these, at most: what is left of up to sixty shows what went wrong. */
    private static final int HANDFUL = 8;

    enum Bug {
        NO_LEASE_CHECK_IN_POP("pop", "if redis.call('HEXISTS', lease, holder) == 0 then", "if false then"),
        ACK_WITHOUT_RECEIPT_CHECK("ack", "if not deadlines[i] then", "if false then"),
        NO_REPLAY_OF_POP("pop", "if seq == lastSeq then", "if false then"),
        NO_REPLAY_OF_RECOVER("recover", "if seq == lastSeq then", "if false then"),
        OVERTAKEN_POP_NOT_IGNORED("pop", "if seq < lastSeq or seq < lastFenced then return { 'OLD', nowUs } end", ""),
        FENCED_POP_USES_NO_NUMBER("pop", "redis.call('HSET', pops, 'fenced', seq)", ""),
        RECOVER_WITHOUT_DEADLINE_CHECK(
                "recover",
                "'ZRANGEBYSCORE', inflight, '-inf', digits(now)",
                "'ZRANGEBYSCORE', inflight, '-inf', '+inf'"),
        RECOVER_OF_ANOTHER_NODES_JOBS("recover", "if nodeOf(receipt) == from then", "if true then"),
        RECOVERED_RECEIPT_STAYS("recover", "if #gone > 0 then redis.call('ZREM', inflight, unpack(gone)) end", ""),
        SCHEDULED_BUCKET_NOT_IN_THE_INDEX(
                "schedule", "redis.call('ZADD', index, minutes[bucketKey], minutes[bucketKey])", ""),
        RETRIED_BUCKET_NOT_IN_THE_INDEX("retry", "redis.call('ZADD', index, ARGV[3], ARGV[3])", ""),
        EMPTIED_BUCKET_STAYS_IN_THE_INDEX("pop", "if emptied then redis.call('ZREM', index, minute) end", ""),
        INDEX_LOSES_A_BUCKET_THAT_IS_NOT_EMPTY("pop", "#putOff == 0 and not following[2]", "true"),
        PENDING_NOT_COUNTED_DOWN_IN_POP("pop", "redis.call('HINCRBY', ledger, 'pending', strays - #gone)", ""),
        POP_WITHOUT_STATE_CHECK("pop", "elseif not waitsIn(record, place) then", "elseif false then"),
        STRAY_ENTRY_COUNTED_AS_PENDING(
                "pop",
                "if #gone > strays then redis.call('HINCRBY', ledger, 'pending', strays - #gone) end",
                "if #gone > 0 then redis.call('HINCRBY', ledger, 'pending', -#gone) end"),
        CANCELLED_JOB_STAYS_IN_ITS_BUCKET("cancel", "redis.call('ZREM', bucket, member)", ""),
        CANCEL_OF_A_RUNNING_JOB("cancel", "if state == 'I' then return { 'RUNNING', nowUs } end", ""),
        MOVED_JOB_IN_TWO_BUCKETS("reschedule", "if moves then redis.call('ZREM', from, member) end", ""),
        RECEIPT_COUNTED_TWICE("ack", "if not done[receipt] then", "if true then"),
        REDRIVE_OF_ANOTHER_DEATH("redrive", "or digits(tonumber(died)) ~= diedAt ", ""),
        CLAIM_OF_A_HELD_LEASE("claim", "if redis.call('EXISTS', lease) == 1", "if false"),
        RENEW_OF_ANOTHERS_LEASE(
                "renew", "redis.call('HEXISTS', lease, holder) == 1", "redis.call('EXISTS', lease) == 1"),
        DIGEST_NOT_COMPARED("schedule", "elseif digestThen == digestNow then", "elseif digestThen then"),
        NO_TOMBSTONE_AFTER_CANCEL("cancel", "if retentionMs > 0 then", "if false then");

        private final String script;
        private final String from;
        private final String to;

        Bug(String script, String from, String to) {
            this.script = script;
            this.from = from;
            this.to = to;
        }
    }

    @ParameterizedTest
    @EnumSource(Bug.class)
    void shouldBeCaughtByTheModel(Bug bug) {
        try (TestStore store = TestStore.open(
                (name, text) -> name.equals(bug.script) ? TestStore.replaced(text, bug.from, bug.to) : text)) {
            for (int i = 0; i < SEQUENCES; i++) {
                Optional<ModelRun.Failure> failure = ModelRun.random(store, ModelIT.SEED + i, ModelIT.CALLS);
                if (failure.isPresent()) {
                    ModelRun.Failure smallest = ModelRun.shrink(store, failure.get());
                    System.out.printf(
                            "planted %s: caught in sequence %d, by %d calls: %s%n",
                            bug, i + 1, smallest.calls().size(), ModelRun.kinds(smallest.calls()));
                    assertThat(smallest.calls())
                            .as("the smallest sequence that fails")
                            .hasSizeLessThanOrEqualTo(HANDFUL);
                    return;
                }
            }
            assertThat(bug).as("not caught in %d sequences", SEQUENCES).isNull();
        }
    }
}
