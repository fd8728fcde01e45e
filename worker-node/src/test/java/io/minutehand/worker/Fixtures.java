package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.HandedJob;
import io.minutehand.core.store.Receipt;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.time.Instant;
import java.util.Map;

/** Parts of a node for tests that need no Redis. */
final class Fixtures {
    private Fixtures() {}

    static TopicWork topic(String name, TopicOptions options) {
        return topic(name, options, TopicSettings.defaults());
    }

    static TopicWork topic(String name, TopicOptions options, TopicSettings settings) {
        TopicWork topic = new TopicWork(name, options, (payload, job) -> {});
        topic.update(new StoredTopic(name, 1, settings));
        return topic;
    }

    static Shard shard(TopicWork topic, int number) {
        return new Shard(new ShardId(topic.topic(), number), topic, null, new DueTimer("test"), null);
    }

    static Running running(Shard shard, String id, int delivery) {
        return running(shard, id, delivery, System.nanoTime());
    }

    static Running running(Shard shard, String id, int delivery, long handedNs) {
        Job job = new Job(
                shard.id.topic(),
                id,
                null,
                Map.of(),
                new byte[0],
                JobState.IN_FLIGHT,
                1,
                delivery,
                Instant.EPOCH,
                Instant.EPOCH,
                null);
        HandedJob handed = new HandedJob(shard.id, new Receipt(delivery, "7", 1, "0" + id), job, new byte[8], null);
        return new Running(shard, handed, null, handedNs, true);
    }
}
