package io.minutehand.loadtest.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.OperatingSystemMXBean;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.WorkerNode;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an idle cluster costs: 3 nodes, 10 topics of 8 shards, no jobs. */
@Tag("figures")
class IdleFiguresIT {
    private static final int NODES = 3;
    private static final int TOPICS = 10;
    private static final Duration WINDOW = Duration.ofSeconds(40);

    @Test
    void shouldBeAlmostSilentWhenIdle() {
        RedisInstance redis = SharedRedis.get();
        List<WorkerNode> nodes = new ArrayList<>();
        try (RedisCommands commands = redis.connect()) {
            for (int n = 0; n < NODES; n++) {
                WorkerNode.Builder node =
                        WorkerNode.connect(redis.uri()).namespace("idle").name("n" + n);
                for (int t = 0; t < TOPICS; t++) {
                    node.handle("topic-" + t, (payload, job) -> {});
                }
                nodes.add(node.start());
            }
            await("every shard has one owner")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> nodes.stream()
                                    .mapToInt(node -> node.stats().ownedShards())
                                    .sum()
                            == TOPICS * 8);
            OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            Counts before = Counts.of(commands);
            long cpuBefore = system.getProcessCpuTime();
            long beganNs = System.nanoTime();
            await("the window has passed")
                    .pollInterval(Duration.ofSeconds(1))
                    .atMost(WINDOW.plusSeconds(10))
                    .until(() -> System.nanoTime() - beganNs >= WINDOW.toNanos());
            double seconds = (System.nanoTime() - beganNs) / 1e9;
            double cpuSeconds = (system.getProcessCpuTime() - cpuBefore) / 1e9;
            Counts idle = Counts.of(commands).since(before);
            System.out.printf(
                    "figures: idle nodes=%d shards=%d calls_per_s=%.1f commands_per_s=%.1f cpu_percent_per_node=%.2f seconds=%.0f%n",
                    NODES,
                    TOPICS * 8,
                    idle.calls() / seconds,
                    idle.commands() / seconds,
                    100 * cpuSeconds / seconds / NODES,
                    seconds);
            assertThat(nodes).allMatch(WorkerNode::ready);
            assertThat(idle.calls() / seconds).isLessThan(100);
            assertThat(idle.commands() / seconds).isLessThan(500);
        } finally {
            nodes.forEach(WorkerNode::close);
        }
    }
}
