package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The real backend: core's writer, registry and store. */
record RedisBackend(JobStore jobs, TopicRegistry topics, JobWriter writer) implements Backend {
    /** Beyond this error a clock is looked at again: what two quartz clocks part by in some 20 s. */
    private static final long ERROR_US = 2000;

    /** An id to look for; whether there is such a job does not matter, the reply carries the time. */
    private static final String ANY_ID = "clock";

    @Override
    public CompletableFuture<StoredTopic> ensure(String topic, long deadlineNs) {
        return topics.ensure(topic, deadlineNs);
    }

    @Override
    public Optional<StoredTopic> known(String topic) {
        return topics.known(topic);
    }

    @Override
    public void refreshKnown(long deadlineNs) {
        topics.refreshKnown(deadlineNs);
    }

    @Override
    public CompletableFuture<List<WriteResult>> write(StoredTopic topic, List<NewJob> batch, long deadlineNs) {
        return writer.write(topic, batch, deadlineNs);
    }

    @Override
    public long serverUs(ShardId shard) {
        return jobs.clock(shard).nowUs();
    }

    @Override
    public void lookAtClocks(StoredTopic topic, long deadlineNs) {
        Object previous = null;
        for (ShardId id : topic.shards()) {
            // Shards of a single server share one clock: one look is enough.
            if (jobs.clock(id) != previous && jobs.clock(id).errorUs() > ERROR_US) {
                jobs.find(id, ANY_ID, deadlineNs);
            }
            previous = jobs.clock(id);
        }
    }
}
