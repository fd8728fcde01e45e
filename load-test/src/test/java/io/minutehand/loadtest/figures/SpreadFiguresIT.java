package io.minutehand.loadtest.figures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.CancelResult;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 200,000 jobs over 20 minutes in 8 shards: how large the largest keys are, and what is left when all have ended. */
@Tag("figures")
class SpreadFiguresIT {
    private static final int JOBS = 200_000;
    private static final int SHARDS = 8;
    private static final Duration SPAN = Duration.ofMinutes(20);
    private static final int RUN = 20_000;

    private final RedisServer redis = RedisServer.start();

    @Test
    void shouldHaveNoHugeKeyAndLeaveNoneBehind() throws Exception {
        try (redis;
                RedisCommands commands = redis.connect();
                JobRouter router = JobRouter.builder()
                        .redis(redis.uri())
                        .declare(
                                "spread",
                                TopicSettings.defaults()
                                        .withShards(SHARDS)
                                        .withRetention(TopicSettings.SHORTEST_RETENTION))
                        .connect()) {
            TopicHandle<byte[]> topic = router.topic("spread");
            Instant base = Instant.now().plusSeconds(5);
            List<JobSpec<byte[]>> specs = new ArrayList<>();
            for (int i = 0; i < JOBS; i++) {
                specs.add(JobSpec.of(new byte[100]).id("job-" + i).at(base.plusMillis(SPAN.toMillis() * i / JOBS)));
            }
            assertThat(topic.scheduleAll(specs).join().accepted()).isEqualTo(JOBS);
            sizes(commands);
            end(router, topic, commands);
        }
    }

    private void sizes(RedisCommands commands) throws Exception {
        long largestBucket = 0;
        long buckets = 0;
        long largestHash = 0;
        long largestOther = 0;
        for (String key : commands.texts("KEYS", "*")) {
            String type = commands.text("TYPE", key);
            long size = "zset".equals(type)
                    ? commands.number("ZCARD", key)
                    : "hash".equals(type) ? commands.number("HLEN", key) : 1;
            if (key.matches("mh:\\{.*}:b:\\d+")) {
                buckets++;
                largestBucket = Math.max(largestBucket, size);
            } else if (key.matches("mh:\\{.*}:r:[0-9a-f]")) {
                largestHash = Math.max(largestHash, size);
            } else {
                largestOther = Math.max(largestOther, size);
            }
        }
        double mean = (double) JOBS / buckets;
        System.out.printf(
                "figures: spread jobs=%d buckets=%d mean=%.0f largest_bucket=%d largest_record_hash=%d largest_other=%d dbsize=%d%n",
                JOBS, buckets, mean, largestBucket, largestHash, largestOther, commands.number("DBSIZE"));
        assertThat((double) largestBucket).isLessThanOrEqualTo(2 * mean);
        assertThat(largestOther).isLessThanOrEqualTo(Math.max(largestBucket, largestHash));
        System.out.println(bigKeys());
    }

    private String bigKeys() throws Exception {
        ProcessBuilder cli = new ProcessBuilder("redis-cli", "-p", String.valueOf(redis.port()), "--bigkeys");
        cli.environment().put("REDISCLI_AUTH", String.valueOf(redis.password()));
        cli.redirectErrorStream(true);
        Process process = cli.start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return output.lines()
                .filter(line -> line.startsWith("Biggest"))
                .reduce("figures: --bigkeys", (a, b) -> a + "\n" + b);
    }

    /** Runs the first jobs, cancels the others, waits for the retention, and counts what is left. */
    private void end(JobRouter router, TopicHandle<byte[]> topic, RedisCommands commands) throws Exception {
        try (WorkerNode node = WorkerNode.connect(redis.uri())
                .handle("spread", (payload, job) -> {})
                .start()) {
            List<CompletableFuture<CancelResult>> cancels = new ArrayList<>();
            for (int i = RUN; i < JOBS; i++) {
                cancels.add(topic.cancel("job-" + i));
                if (cancels.size() == 1000) {
                    cancels.forEach(CompletableFuture::join);
                    cancels.clear();
                }
            }
            cancels.forEach(CompletableFuture::join);
            for (int i = 0; i < RUN; i++) {
                topic.reschedule("job-" + i, Duration.ZERO).join();
            }
            await("every tombstone has gone")
                    .atMost(Duration.ofMinutes(5))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> commands.number("DBSIZE") < 100);
            await("the leases of past minutes have gone")
                    .atMost(Duration.ofMinutes(3))
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> commands.texts("KEYS", "*:lease:*").isEmpty()
                            && commands.texts("KEYS", "*:pop:*").isEmpty());
            List<String> left = new ArrayList<>(commands.texts("KEYS", "*"));
            left.sort(null);
            System.out.println("figures: left=" + left.size() + " " + left);
            assertThat(node.ready()).isTrue();
            // A ledger a shard, the topics, the nodes, and the description of the node.
            assertThat(left).hasSize(SHARDS + 3);
        }
    }
}
