package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A backend that a test answers for: writes wait until they are told how they end. One shard. */
final class FakeBackend implements Backend {
    /** A write that waits for its answer. */
    record Write(List<NewJob> jobs, long deadlineNs, CompletableFuture<List<WriteResult>> answer) {
        void end(WriteResult.Status status) {
            answer.complete(
                    jobs.stream().map(job -> new WriteResult(status, null)).toList());
        }

        List<String> ids() {
            return jobs.stream().map(NewJob::id).toList();
        }
    }

    final CompletableFuture<StoredTopic> topic = new CompletableFuture<>();
    final Queue<Write> writes = new ConcurrentLinkedQueue<>();
    final AtomicInteger asked = new AtomicInteger();
    volatile CompletableFuture<StoredTopic> nextAnswer = topic;

    static StoredTopic settings() {
        return new StoredTopic("t", 1, TopicSettings.defaults().withShards(1));
    }

    @Override
    public CompletableFuture<StoredTopic> ensure(String name, long deadlineNs) {
        asked.incrementAndGet();
        return nextAnswer;
    }

    @Override
    public Optional<StoredTopic> known(String name) {
        return Optional.empty();
    }

    @Override
    public void refreshKnown(long deadlineNs) {}

    @Override
    public CompletableFuture<List<WriteResult>> write(StoredTopic stored, List<NewJob> jobs, long deadlineNs) {
        Write write = new Write(List.copyOf(jobs), deadlineNs, new CompletableFuture<>());
        writes.add(write);
        return write.answer();
    }

    @Override
    public long serverUs(ShardId shard) {
        return System.currentTimeMillis() * 1000;
    }

    @Override
    public void lookAtClocks(StoredTopic stored, long deadlineNs) {}
}
