package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Jobs travel in company, in bounded memory, whatever happens to the script cache; on a server whose calls nobody else makes. */
class BatchingIT {
    private static final Duration FAR = Duration.ofMinutes(30);
    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static JobSpec<byte[]> job(int number) {
        return JobSpec.of(new byte[100]).id("job:" + number).after(FAR);
    }

    private static long scriptCalls(RedisCommands redis) {
        String stats = redis.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
        return Long.parseLong(stats.substring("calls=".length(), stats.indexOf(',')));
    }

    @Test
    void shouldStoreTenThousandJobsInFarFewerCalls() {
        RedisOptions options = Redises.options(server);
        try (JobRouter router = JobRouter.builder().redis(options).connect();
                RedisCommands redis = server.connect();
                PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job(-1)).join();
            long before = scriptCalls(redis);
            List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                answers.add(topic.schedule(job(i)));
            }
            router.flush();
            assertThat(answers).allSatisfy(answer -> {
                assertThat(answer).isCompleted();
                assertThat(answer.join().status()).isEqualTo(Status.CREATED);
            });
            assertThat(scriptCalls(redis) - before).isBetween(40L, 2000L);
            assertThat(node.pending()).isEqualTo(10_001);
            assertThat(node.missing()).isZero();
        }
    }

    @Test
    void shouldStreamACollectionThatIsMadeWhileItIsRead() {
        int items = 20_000;
        long limit = 1024 * 1024;
        AtomicLong most = new AtomicLong();
        try (JobRouter router =
                Redises.router(server).bufferBytes(limit).payloadBytes(1000).connect()) {
            BatchResult result = router.topic("t")
                    .scheduleAll(new AbstractCollection<>() {
                        @Override
                        public Iterator<JobSpec<byte[]>> iterator() {
                            return IntStream.range(0, items)
                                    .mapToObj(number -> {
                                        most.accumulateAndGet(router.bufferedBytes(), Math::max);
                                        return job(number);
                                    })
                                    .iterator();
                        }

                        @Override
                        public int size() {
                            return items;
                        }
                    })
                    .join();
            assertThat(result.accepted()).isEqualTo(items);
            for (int i = 0; i < items; i += 997) {
                assertThat(result.results().get(i).id()).isEqualTo("job:" + i);
            }
            assertThat(most.get()).isBetween(limit / 2, limit);
        }
    }

    @Test
    void shouldStoreEachJobOnceWhileTheScriptCacheIsFlushedUnderLoad() {
        RedisOptions options = Redises.options(server);
        try (JobRouter router = JobRouter.builder().redis(options).connect();
                RedisCommands redis = server.connect();
                PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            List<CompletableFuture<ScheduleResult>> answers = new ArrayList<>();
            for (int i = 0; i < 10_000; i++) {
                answers.add(router.topic("t").schedule(job(i)));
                if (i % 400 == 0) {
                    redis.call("SCRIPT", "FLUSH");
                }
            }
            // Where answers are overdue the router asks once more, and may hear that the jobs exist.
            answers.forEach(answer -> assertThat(answer.join().status()).isIn(Status.CREATED, Status.EXISTS));
            assertThat(node.pending()).isEqualTo(10_000);
        }
    }

    @Test
    void shouldStoreLargePayloadsByTheHundred() {
        RedisOptions options = Redises.options(server);
        try (JobRouter router = JobRouter.builder().redis(options).connect();
                PlayedNode node = new PlayedNode(options, "t", TopicSettings.defaults())) {
            TopicHandle<byte[]> topic = router.topic("t");
            List<JobSpec<byte[]>> specs = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                byte[] payload = new byte[256 * 1024];
                payload[0] = (byte) i;
                specs.add(JobSpec.of(payload).id("large:" + i).after(FAR));
            }
            BatchResult result = topic.scheduleAll(specs).join();
            assertThat(result.rejected()).isEmpty();
            assertThat(topic.find("large:17").join().orElseThrow().job().payload())
                    .isEqualTo(specs.get(17).payload());
            assertThat(node.pending()).isEqualTo(400);
        }
        try (RedisCommands redis = server.connect()) {
            redis.call("FLUSHALL");
        }
    }
}
