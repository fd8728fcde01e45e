package io.minutehand.loadtest.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobSpec;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lateness of jobs that are due 50 ms after they were scheduled into an idle cluster of 3 nodes; with hints, and without. */
@Tag("figures")
class SoonFiguresIT {
    private static final Duration SOON = Duration.ofMillis(50);

    private final RedisInstance redis = SharedRedis.get();
    private final Histogram lateness = new ConcurrentHistogram(3_600_000_000L, 3);
    private final AtomicLong earliestUs = new AtomicLong(Long.MAX_VALUE);
    private volatile CountDownLatch started = new CountDownLatch(1);

    @Test
    void shouldStartJobsThatAreDueSoonOnTime() throws Exception {
        withNodes((topic, nodes) -> {
            run(topic, 200, i -> {});
            lateness.reset();
            run(topic, 1000, i -> {});
            print("idle, hints on");
        });
    }

    @Test
    void shouldStartJobsWithinTheLongestSleepWhenHintsAreLost() throws Exception {
        try (RedisCommands commands = redis.connect()) {
            withNodes((topic, nodes) -> {
                AtomicInteger killed = new AtomicInteger();
                int jobs = 300;
                started = new CountDownLatch(jobs);
                long beganNs = System.nanoTime();
                for (int i = 0; i < jobs; i++) {
                    long dueNs = beganNs + i * TimeUnit.MILLISECONDS.toNanos(100);
                    await("the next job's turn")
                            .pollInterval(Duration.ofMillis(10))
                            .until(() -> System.nanoTime() >= dueNs);
                    killed.addAndGet((int) commands.number("CLIENT", "KILL", "TYPE", "pubsub"));
                    topic.schedule(JobSpec.of(new byte[0]).after(SOON)).join();
                }
                assertThat(awaitStarted(10)).as("every job started").isTrue();
                print("hints lost (" + killed + " subscriptions killed)");
                assertThat(lateness.getMaxValue()).isLessThanOrEqualTo(2_200_000);
            });
        }
    }

    /** One job after the other: the next is scheduled when the last has started. */
    private void run(TopicHandle<byte[]> topic, int jobs, IntConsumer before) {
        for (int i = 0; i < jobs; i++) {
            before.accept(i);
            started = new CountDownLatch(1);
            assertThat(topic.schedule(JobSpec.of(new byte[0]).after(SOON))
                            .join()
                            .accepted())
                    .isTrue();
            assertThat(awaitStarted(5)).as("job %d started", i).isTrue();
        }
    }

    private boolean awaitStarted(int seconds) {
        try {
            return started.await(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private interface Scenario {
        void run(TopicHandle<byte[]> topic, List<WorkerNode> nodes);
    }

    private void withNodes(Scenario scenario) {
        List<WorkerNode> nodes = new ArrayList<>();
        String namespace = "soon-" + System.nanoTime();
        try (JobRouter router =
                JobRouter.builder().redis(redis.uri()).namespace(namespace).connect()) {
            for (int n = 0; n < 3; n++) {
                nodes.add(WorkerNode.connect(redis.uri())
                        .namespace(namespace)
                        .name("n" + n)
                        .handle("soon", (payload, job) -> {
                            long us = job.lateness().toNanos() / 1000;
                            lateness.recordValue(Math.max(0, us));
                            earliestUs.accumulateAndGet(us, Math::min);
                            started.countDown();
                        })
                        .start());
            }
            await("every shard has one owner")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> nodes.stream()
                                    .mapToInt(node -> node.stats().ownedShards())
                                    .sum()
                            == 8);
            scenario.run(router.topic("soon"), nodes);
            assertThat(earliestUs.get()).as("never early").isNotNegative();
        } finally {
            nodes.forEach(WorkerNode::close);
        }
    }

    private void print(String what) {
        System.out.printf(
                "figures: due in 50 ms, %s: jobs=%d p50=%.2f p99=%.2f p99.9=%.2f max=%.2f ms%n",
                what,
                lateness.getTotalCount(),
                lateness.getValueAtPercentile(50) / 1e3,
                lateness.getValueAtPercentile(99) / 1e3,
                lateness.getValueAtPercentile(99.9) / 1e3,
                lateness.getMaxValue() / 1e3);
    }
}
