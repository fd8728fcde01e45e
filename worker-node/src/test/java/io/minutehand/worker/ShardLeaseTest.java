package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import org.junit.jupiter.api.Test;

/** What a lease believes of its bucket's first due time, whatever the order in which answers and hints come. */
class ShardLeaseTest {
    private static final long CLAIMED_NS = -1_000_000;

    private final Shard.Lease lease =
            new Shard.Lease(new BucketId(new ShardId("orders", 0), 1), CLAIMED_NS + 500, CLAIMED_NS);

    @Test
    void shouldTakeAnAnswerOver() {
        lease.answered(7000, CLAIMED_NS + 10);
        assertThat(lease.dueMs).isEqualTo(7000);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 20);
        assertThat(lease.dueMs).isEqualTo(Shard.NONE_DUE);
    }

    @Test
    void shouldKeepAHintThatCameAfterTheQuestion() {
        lease.answered(9000, CLAIMED_NS + 10);
        lease.hint(7000, CLAIMED_NS + 30);
        lease.answered(9000, CLAIMED_NS + 20);
        assertThat(lease.dueMs).isEqualTo(7000);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 20);
        assertThat(lease.dueMs).isEqualTo(7000);
    }

    @Test
    void shouldForgetAHintWhenALaterQuestionWasAnswered() {
        lease.hint(7000, CLAIMED_NS + 30);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 40);
        assertThat(lease.dueMs).isEqualTo(Shard.NONE_DUE);
    }

    @Test
    void shouldNotMistakeTheBeginningForAHint() {
        lease.answered(7000, CLAIMED_NS + 10);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 11);
        assertThat(lease.dueMs).isEqualTo(Shard.NONE_DUE);
    }

    @Test
    void shouldLookAtOnceIntoABucketThatWasNotSeenYetWhateverTheHint() {
        lease.hint(7000, CLAIMED_NS + 30);
        assertThat(lease.dueMs).isEqualTo(Shard.UNKNOWN_DUE);
    }

    @Test
    void shouldLookOnceMoreWhenAHintCameDuringTheFirstQuestion() {
        // The pop found the bucket empty or emptied it; the hint is of a job that came right after.
        lease.hint(7000, CLAIMED_NS + 30);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 20);
        assertThat(lease.dueMs).isEqualTo(Shard.UNKNOWN_DUE);
        lease.answered(Shard.NONE_DUE, CLAIMED_NS + 40);
        assertThat(lease.dueMs).isEqualTo(Shard.NONE_DUE);
    }
}
