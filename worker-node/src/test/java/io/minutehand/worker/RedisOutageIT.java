package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A Redis that does not answer for a while, or is killed and comes back with what it had. */
class RedisOutageIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Runs runs = new Runs();
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();
    private RedisServer server;
    private Workers workers;
    private Jobs jobs;

    @BeforeEach
    void open() throws Exception {
        server = RedisServer.start(RedisSettings.defaults().withAppendOnly());
        RedisOptions redis = Workers.ownNamespace(server.uri());
        workers = new Workers(redis);
        jobs = new Jobs(
                redis,
                "orders",
                TopicSettings.defaults()
                        .withShards(4)
                        .withVisibility(Duration.ofSeconds(3))
                        .withRetry(RetryPolicy.fixed(Duration.ofMillis(300), 5)));
        lines.start();
        for (int i = 0; i < 2; i++) {
            String name = "outage-" + i;
            workers.start(name, "orders", (payload, job) -> {
                runs.add(name, job);
                Thread.sleep(job.id().endsWith("0") ? 400 : 5);
            });
        }
        await("both own shards")
                .atMost(LONG)
                .until(() ->
                        workers.all().stream().allMatch(node -> node.stats().ownedShards() > 0));
        ((Logger) LoggerFactory.getLogger("io.minutehand.worker")).addAppender(lines);
    }

    @AfterEach
    void close() {
        ((Logger) LoggerFactory.getLogger("io.minutehand.worker")).detachAppender(lines);
        later.shutdownNow();
        workers.close();
        jobs.close();
        server.close();
    }

    /** A job every 20 ms: some before, most in and after the outage. */
    private void stream(int count) {
        List<NewJob> batch = new ArrayList<>();
        long base = jobs.nowMs() + 200;
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("job-" + i, base + 20L * i, "{}"));
        }
        jobs.scheduleAll(batch);
        await("under load").atMost(LONG).until(() -> runs.size() > 50);
    }

    private List<String> ids() {
        return workers.all().stream().map(WorkerNode::id).toList();
    }

    /** Warnings of these nodes; other classes run beside this one in the same process. */
    private long warnings() {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getThreadName().startsWith("minutehand-outage-"))
                .filter(line -> line.getLevel().isGreaterOrEqual(Level.WARN))
                .count();
    }

    private void assertNothingLost(String what, int count) {
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == count);
        System.out.printf(
                "%s: runs=%d duplicates=%d warnings=%d %s%n",
                what, runs.size(), runs.duplicates(), warnings(), runs.lateness());
        assertThat(runs.ids()).as("lost").hasSize(count);
        assertThat(runs.early()).isZero();
        assertThat(runs.duplicates()).as("at most what was in flight").isLessThanOrEqualTo(2 * 64);
        assertThat(jobs.inFlight()).isZero();
        assertThat(jobs.missing()).isZero();
        await("hints are heard again").atMost(LONG).until(() -> {
            long heard = workers.counted(Counter.WOKEN);
            for (int i = 0; i < 20; i++) {
                jobs.schedule("hint-" + i + "-" + heard, jobs.nowMs() + 50, "{}");
            }
            await("all done").atMost(LONG).until(() -> jobs.counter("done") == jobs.counter("accepted"));
            return workers.counted(Counter.WOKEN) >= heard + 4;
        });
    }

    @Test
    void shouldResumeByItselfWhenRedisDidNotAnswerForTenSeconds() throws Exception {
        List<String> ids = ids();
        stream(600);
        server.pause();
        CountDownLatch over = new CountDownLatch(1);
        later.schedule(over::countDown, 10, TimeUnit.SECONDS);
        try {
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            server.resume();
        }
        assertNothingLost("redis paused", 600);
        assertThat(ids()).as("an outage makes nobody dead").isEqualTo(ids);
        assertThat(warnings()).as("log lines").isLessThan(150);
        assertThat(runs.duplicates()).as("the living extend first").isZero();
    }

    @Test
    void shouldLoseNothingWhenRedisIsKilledAndComesBack() throws Exception {
        stream(300);
        server.killOnceWritten();
        assertThat(runs.size()).as("started before").isLessThan(300);
        CountDownLatch over = new CountDownLatch(1);
        later.schedule(over::countDown, 2, TimeUnit.SECONDS);
        assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
        server.restart();
        assertNothingLost("redis killed", 300);
        assertThat(warnings()).as("log lines").isLessThan(150);
    }
}
