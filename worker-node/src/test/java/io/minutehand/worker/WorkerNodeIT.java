package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobId;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WorkerNodeIT {
    private final RedisOptions redis = RedisOptions.of(SharedRedis.get().uri().toString())
            .withNamespace("t" + JobId.random().substring(0, 8));

    @Test
    void shouldRunEachJobOnceAndNeverEarlyOnThreeNodes() {
        Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
        AtomicInteger early = new AtomicInteger();
        List<WorkerNode> nodes = new ArrayList<>();
        try (Jobs jobs = new Jobs(redis, "orders", TopicSettings.defaults())) {
            for (int i = 0; i < 3; i++) {
                nodes.add(WorkerNode.builder()
                        .redis(redis)
                        .name("n" + i)
                        .handle("orders", (payload, job) -> {
                            runs.computeIfAbsent(job.id(), id -> new AtomicInteger())
                                    .incrementAndGet();
                            if (job.lateness().isNegative()) {
                                early.incrementAndGet();
                            }
                        })
                        .start());
            }
            long base = jobs.nowMs() + 1500;
            List<NewJob> batch = new ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                batch.add(Jobs.job("job-" + i, base + i * 2L, "{}"));
            }
            assertThat(jobs.scheduleAll(batch)).allMatch(r -> r.status().accepted());
            await("all jobs done").atMost(Duration.ofSeconds(15)).until(() -> jobs.counter("done") == 2000);
            assertThat(runs).hasSize(2000);
            assertThat(runs.values()).allMatch(n -> n.get() == 1);
            assertThat(early).hasValue(0);
            assertThat(jobs.missing()).isZero();
            long done = nodes.stream()
                    .mapToLong(n -> n.stats().counted(Counter.DONE))
                    .sum();
            assertThat(done).isEqualTo(2000);
            nodes.forEach(n -> n.recorders()
                    .latenessSoFar()
                    .forEach((topic, h) -> System.out.printf(
                            "node=%s lateness p50=%d p99=%d max=%d us n=%d%n",
                            n.name(),
                            h.getValueAtPercentile(50),
                            h.getValueAtPercentile(99),
                            h.getMaxValue(),
                            h.getTotalCount())));
        } finally {
            nodes.forEach(WorkerNode::close);
        }
    }
}
