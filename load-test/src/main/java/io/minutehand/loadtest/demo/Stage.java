package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.redis.RedisGoneException;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.SourceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a demo runs on: Redis, a directory, the ledger, the orders. Closing it ends what was started and deletes what was
 * made. When this process is gone without closing it, the private directory's watchdog does the same.
 */
final class Stage implements AutoCloseable {
    static final String ORDERS_FILE = "orders.table";

    private final DemoOptions options;
    private final PrivateDirectory home;
    private final Path workDir;
    private final RedisInstance redis;
    private final String namespace;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final RedisProbe probe;
    private final OrderTable orders;
    private boolean closed;
    private boolean redisGone;

    private Stage(DemoOptions options, PrivateDirectory home, Path workDir, RedisInstance redis) throws IOException {
        this.options = options;
        this.home = home;
        this.workDir = workDir;
        this.redis = redis;
        // Its own in each run: a Redis that others use as well may still hold the keys of a run before.
        this.namespace = "mhdemo-" + Long.toString(System.currentTimeMillis(), Character.MAX_RADIX) + "-"
                + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
        this.ledger = LedgerWriter.create(workDir, "demo");
        this.clock = RedisClock.watch(redis.connect());
        this.probe = new RedisProbe(redis.connect(), namespace, topics(), options.shards());
        this.orders = OrderTable.create(ordersFile(), options.jobs());
    }

    /**
     * Sets up.
     *
     * @throws IllegalStateException if there is no Redis
     */
    static Stage set(DemoOptions options) throws IOException {
        PrivateDirectory home = PrivateDirectory.create("demo");
        RedisInstance redis = null;
        try {
            Path workDir = options.workDir() == null ? home.path() : made(options.workDir());
            LogFile.use(workDir.resolve("demo.log"));
            redis = RedisSource.forDemo(options.redis()).open(RedisSettings.defaults());
            return new Stage(options, home, workDir, redis);
        } catch (IOException | RuntimeException e) {
            if (redis != null) {
                redis.close();
            }
            home.close();
            throw e;
        }
    }

    private static Path made(Path directory) {
        try {
            return Files.createDirectories(directory).toRealPath();
        } catch (IOException e) {
            throw new IllegalArgumentException("--work-dir=" + directory + " cannot be made: " + e, e);
        }
    }

    PrivateDirectory home() {
        return home;
    }

    Path workDir() {
        return workDir;
    }

    RedisInstance redis() {
        return redis;
    }

    String namespace() {
        return namespace;
    }

    LedgerWriter ledger() {
        return ledger;
    }

    RedisClock clock() {
        return clock;
    }

    RedisProbe probe() {
        return probe;
    }

    OrderTable orders() {
        return orders;
    }

    /**
     * Makes sure that Redis still answers.
     *
     * @throws RedisGoneException if it does not
     */
    void requireRedis() {
        RedisGoneException lost = clock.lost();
        if (lost != null) {
            throw lost;
        }
    }

    /** Gives Redis up: closing will not ask it for anything. */
    synchronized void redisIsGone() {
        redisGone = true;
    }

    /** Returns whether the keys of the run are to be deleted from a Redis that was there before it. */
    boolean deletesKeys() {
        return redis.kind() == SourceKind.ADDRESS && !options.keepKeys();
    }

    /** Returns the names of the measured topics. */
    List<String> topics() {
        return options.topics().stream().map(DemoTopic::topic).toList();
    }

    Path ordersFile() {
        return workDir.resolve(ORDERS_FILE);
    }

    /**
     * Copies ledger and logs to where they survive, if they would go away with the stage.
     *
     * @return the directory that holds them
     */
    Path keepEvidence() throws IOException {
        if (options.workDir() != null) {
            return workDir;
        }
        Path kept = Files.createTempDirectory("minutehand-demo-failed-");
        try (Stream<Path> files = Files.list(workDir)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, kept.resolve(file.getFileName()));
            }
        }
        return kept;
    }

    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (deletesKeys() && !redisGone) {
                probe.deleteAll();
            }
        } finally {
            probe.close();
            clock.close();
            redis.close();
            orders.close();
            ledger.close();
            home.close();
        }
    }

    /** Ends at once what was started here, workers too: for the end of the process by a signal. From any thread. */
    void abandon() {
        // Its processes end with it.
        home.close();
        if (deletesKeys()) {
            // A connection of its own: the other may be in the middle of a reply.
            try (RedisProbe last = new RedisProbe(redis.connect(), namespace, List.of(), 0)) {
                last.deleteAll();
            }
        }
        redis.close();
    }
}
