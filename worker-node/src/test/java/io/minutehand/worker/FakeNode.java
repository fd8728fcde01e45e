package io.minutehand.worker;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.Handout;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** A node that takes jobs and then does nothing with them, and that nobody ever hears of: what a crash leaves behind, without the wait. */
final class FakeNode {
    private final Jobs jobs;
    private final JobStore store;
    private final LeaseStore leases;
    private final NodeId node;
    private long seq;

    FakeNode(Jobs jobs) {
        Executor here = Runnable::run;
        this.jobs = jobs;
        this.store = jobs.connection().jobs(here);
        this.leases = jobs.connection().leases(here);
        this.node = NodeId.next(jobs.connection().clientId());
    }

    /** Pops everything that is due, and gives the leases back. */
    List<HandedJob> popAll(Duration visibility) {
        List<HandedJob> popped = new ArrayList<>();
        for (int i = 0; i < jobs.shards(); i++) {
            ShardId shard = new ShardId(jobs.topic(), i);
            List<Long> minutes = leases.look(shard, Minutes.of(jobs.nowMs()), List.of())
                    .join()
                    .minutes();
            for (long minute : minutes) {
                BucketId bucket = new BucketId(shard, minute);
                if (!leases.claim(bucket, node, Duration.ofSeconds(5)).join()) {
                    throw new IllegalStateException(bucket + " is another's");
                }
                Handout handout =
                        store.pop(bucket, node, ++seq, 256, visibility).join();
                popped.addAll(handout.jobs());
                leases.release(shard, List.of(minute), node).join();
            }
        }
        return popped;
    }
}
