package io.minutehand.router;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.WriteResult;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** What the batcher needs of Redis; tests put a play-acting one in its place. Futures complete on the router's loop. Thread-safe. */
interface Backend {
    /** A topic's settings, created if need be and told to its shards; repeats until the deadline ({@code nanoTime}). */
    CompletableFuture<StoredTopic> ensure(String topic, long deadlineNs);

    /** A topic's settings if they are known by now. */
    Optional<StoredTopic> known(String topic);

    /** Stores jobs of one topic, repeating until the deadline; a result per job, in order. */
    CompletableFuture<List<WriteResult>> write(StoredTopic topic, List<NewJob> jobs, long deadlineNs);

    /** Reads the settings of all known topics again, once; what fails is left for the next time. */
    void refreshKnown(long deadlineNs);

    /** The time, epoch microseconds, of the server that holds a shard. */
    long serverUs(ShardId shard);

    /** Looks at the clocks of the servers of these shards again where the last look is long past. */
    void lookAtClocks(StoredTopic topic, long deadlineNs);
}
