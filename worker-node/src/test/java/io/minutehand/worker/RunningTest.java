package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.topic.Delivery;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RunningTest {
    private static final long VISIBILITY_NS = TimeUnit.SECONDS.toNanos(30);

    private final TopicWork topic = Fixtures.topic("orders", TopicOptions.defaults());
    private final Shard shard = Fixtures.shard(topic, 0);

    @Test
    void shouldBeItsNodesUntilTheDeadlineAsFarAsIsKnown() {
        long nowNs = System.nanoTime();
        assertThat(Fixtures.running(shard, "a", 1, nowNs).isStillMine()).isTrue();
        Running old = Fixtures.running(shard, "a", 1, nowNs - VISIBILITY_NS);
        assertThat(old.isStillMine()).isFalse();
        old.extended(nowNs);
        assertThat(old.isStillMine()).isTrue();
        old.lose();
        assertThat(old.isStillMine()).isFalse();
    }

    @Test
    void shouldTellWhenNobodyElseCanHaveHadIt() {
        long nowNs = System.nanoTime();
        Running job = Fixtures.running(shard, "a", 1, nowNs);
        assertThat(job.nobodyElses("7", nowNs)).isTrue();
        assertThat(job.nobodyElses("8", nowNs)).as("under another id").isFalse();
        assertThat(job.nobodyElses("7", nowNs + VISIBILITY_NS))
                .as("past its deadline")
                .isFalse();
        job.lose();
        assertThat(job.nobodyElses("7", nowNs)).as("lost").isFalse();
    }

    @Test
    void shouldKeepTheDeliveryUnderWhichItWasHandedOut() {
        Running atLeastOnce = Fixtures.running(shard, "a", 1);
        topic.update(new StoredTopic("orders", 1, TopicSettings.defaults().withDelivery(Delivery.AT_MOST_ONCE)));
        assertThat(atLeastOnce.atMostOnce()).isFalse();
        Running atMostOnce = Fixtures.running(shard, "b", 1, System.nanoTime() - VISIBILITY_NS);
        topic.update(new StoredTopic("orders", 1, TopicSettings.defaults()));
        assertThat(atMostOnce.atMostOnce()).isTrue();
        assertThat(atMostOnce.isStillMine())
                .as("no deadline counts after the ack")
                .isTrue();
    }
}
