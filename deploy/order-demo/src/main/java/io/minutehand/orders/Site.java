package io.minutehand.orders;

import io.minutehand.postgres.PostgresInstance;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisServer;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All that a demo runs on: a schema of its own in PostgreSQL, a namespace of its own in Redis, the order service, worker processes. Closing it ends
 * and deletes all of that, in the order in which nobody misses anything; when this process is gone without it, what it had started is gone, too.
 */
final class Site implements AutoCloseable {
    private final RedisInstance redis;
    private final PostgresInstance postgres;
    private final PrivateDirectory home;
    private final OrderSettings settings;
    private final Events events;
    private final OrderService service;
    private final Workers workers;
    private final Trouble trouble;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private Site(
            PostgresInstance postgres,
            RedisInstance redis,
            PrivateDirectory home,
            Duration delay,
            Duration scan,
            int workerCount,
            Consumer<String> listener) {
        this.postgres = postgres;
        this.redis = redis;
        this.home = home;
        this.events = new Events(listener);
        try {
            PostgresSchema schema = keep(postgres.newSchema("orders"));
            String namespace = "mhorders-" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX) + "-"
                    + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
            this.settings = new OrderSettings(redis.uri(), namespace, schema.url(), delay, scan);
            keep(this::deleteKeys);
            this.service = keep(OrderService.open(settings));
            this.workers = keep(new Workers(home, settings));
            this.trouble = keep(new Trouble(workers, redis, events));
            workers.start(workerCount);
        } catch (RuntimeException | Error failed) {
            // Parts that wait while they close would not, with the flag of a signal set.
            boolean interrupted = Thread.interrupted();
            close();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            throw failed;
        }
    }

    /**
     * Sets up; returns when the workers have joined.
     *
     * @param postgres stays the caller's, as do {@code redis} and {@code home}
     * @param home where workers run and log
     * @param listener told of what is done to the demo
     * @throws IllegalStateException when something does not start
     * @throws io.minutehand.core.store.StoreException when Redis refuses
     */
    static Site open(
            PostgresInstance postgres,
            RedisInstance redis,
            PrivateDirectory home,
            Duration delay,
            Duration scan,
            int workers,
            Consumer<String> listener) {
        return new Site(postgres, redis, home, delay, scan, workers, listener);
    }

    private <T extends AutoCloseable> T keep(T part) {
        opened.push(part);
        return part;
    }

    PostgresInstance postgres() {
        return postgres;
    }

    RedisInstance redis() {
        return redis;
    }

    OrderSettings settings() {
        return settings;
    }

    OrderService service() {
        return service;
    }

    OrderStore orders() {
        return service.orders();
    }

    Workers workers() {
        return workers;
    }

    Trouble trouble() {
        return trouble;
    }

    Events events() {
        return events;
    }

    /** Open orders that the reconciler found without a job, whoever's turn it was: those that were committed a moment ago are among them. */
    long missing() {
        return service.missing() + workers.missing();
    }

    /** Copies the logs to where they survive. Returns the directory. */
    static Path keepLogs(PrivateDirectory home) throws IOException {
        Path kept = Files.createTempDirectory("minutehand-orders-failed-");
        try (Stream<Path> files = Files.list(home.path())) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, kept.resolve(file.getFileName()));
            }
        }
        return kept;
    }

    /** In a Redis that was there before, nothing stays; one of our own is gone anyway. */
    private void deleteKeys() {
        if (redis instanceof RedisServer) {
            return;
        }
        try (RedisCommands commands = redis.connect()) {
            String cursor = "0";
            do {
                Object reply = commands.call("SCAN", cursor, "MATCH", settings.namespace() + ":*", "COUNT", 1_000);
                List<?> step = reply instanceof List<?> list ? list : List.of("0", List.of());
                cursor = text(step.get(0));
                List<Object> unlink = new ArrayList<>(List.of("UNLINK"));
                ((List<?>) step.get(1)).forEach(key -> unlink.add(text(key)));
                if (unlink.size() > 1) {
                    commands.call(unlink.toArray());
                }
            } while (!cursor.equals("0"));
        }
    }

    private static String text(Object reply) {
        return reply instanceof byte[] bytes
                ? new String(bytes, java.nio.charset.StandardCharsets.UTF_8)
                : String.valueOf(reply);
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                org.slf4j.LoggerFactory.getLogger(Site.class).warn("orders: closing failed", e);
            }
        }
    }
}
