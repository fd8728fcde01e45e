package io.minutehand.loadtest.fault;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisServer;
import io.minutehand.source.PrivateDirectory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes whose wall clock is wrong. */
@Timeout(60)
class WallClockIT {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration LEASE = Duration.ofMinutes(1);
    private static final BucketId BUCKET = new BucketId(new ShardId("orders", 0), 100);

    private final PrivateDirectory home = PrivateDirectory.create("clock");
    private WallClock clock;

    @BeforeEach
    void create() {
        clock = WallClock.create(home.path(), "test");
    }

    @AfterEach
    void close() {
        home.close();
    }

    @Test
    void shouldAlsoRuleWhatAsksForTheTimeInALambda() throws Exception {
        Process asker = start(Asker.class);
        clock.set(HOUR);

        // It says so once it has seen the hour, and then what a lambda sees.
        try (BufferedReader said = asker.inputReader(UTF_8)) {
            long seenMs = Long.parseLong(said.readLine());

            assertThat(seenMs - System.currentTimeMillis()).isCloseTo(HOUR.toMillis(), within(60_000L));
        }
    }

    /** Redisson's lock learns from the wall clock how long it has waited, and goes on when that is less than nothing. */
    @Test
    void shouldNotWaitForALeaseBecauseTheClockWentBack() throws Exception {
        try (RedisServer server = RedisServer.start();
                LinkProxy link = LinkProxy.before(server)) {
            Process claimer = start(Claimer.class, link.uri());
            try (BufferedReader said = claimer.inputReader(UTF_8);
                    Writer order = claimer.outputWriter(UTF_8)) {
                assertThat(said.readLine()).isEqualTo("another holds it");
                link.blackHole(LinkProxy.Direction.TO_CLIENT);
                order.write("claim\n");
                order.flush();
                assertThat(said.readLine()).isEqualTo("asked");
                clock.set(HOUR.negated());
                assertThat(said.readLine()).isEqualTo("the clock went back");
                link.pass();

                assertThat(said.readLine()).isEqualTo("false");
            }
        }
    }

    private Process start(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectError(home.path().resolve("log").toFile());
        builder.environment().putAll(clock.environment());
        return home.start(builder);
    }

    private static void untilClockIsOffBy(long fromMs, Duration offset) {
        while (Math.abs(System.currentTimeMillis() - fromMs - offset.toMillis()) > HOUR.toMillis() / 2) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Says what time it is as a lambda sees it, when its clock has been set. */
    static final class Asker {
        private Asker() {}

        public static void main(String[] args) {
            CompletableFuture<Long> asked = new CompletableFuture<>();
            CompletableFuture<Void> told = asked.thenAccept(unused -> System.out.println(System.currentTimeMillis()));
            untilClockIsOffBy(
                    ProcessHandle.current().info().startInstant().orElseThrow().toEpochMilli(), HOUR);
            asked.complete(0L);
            told.join();
        }
    }

    /** Claims a lease that another holds. */
    static final class Claimer {
        private Claimer() {}

        public static void main(String[] args) throws Exception {
            RedisOptions options = RedisOptions.of(args[0]).withReplyTimeout(Duration.ofSeconds(20));
            try (StoreConnection store = StoreConnection.open(options);
                    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
                NodeId other = NodeId.next("other");
                store.leases(Runnable::run).claim(BUCKET, other, LEASE).get();
                System.out.println("another holds it");
                orders.readLine();
                long askedMs = System.currentTimeMillis();
                CompletableFuture<Boolean> claim =
                        store.leases(Runnable::run).claim(BUCKET, NodeId.next("late"), LEASE);
                System.out.println("asked");
                untilClockIsOffBy(askedMs, HOUR.negated());
                System.out.println("the clock went back");
                try {
                    System.out.println(claim.get(10, TimeUnit.SECONDS));
                } catch (TimeoutException e) {
                    System.out.println("waits");
                }
            }
        }
    }
}
