package io.minutehand.orders;

import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Breaks what the demo runs on: workers, which are always its own, and Redis if the demo started it. That one keeps no file, so a kill takes all that
 * it held. Thread-safe.
 */
final class Trouble implements AutoCloseable {
    private final Workers workers;
    private final RedisInstance redis;
    private final Events events;
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "trouble");
        thread.setDaemon(true);
        return thread;
    });
    private boolean redisStopped;
    private boolean closed;

    /** What was asked for is not possible now, or not here; the message says why. */
    static final class NotPossibleException extends Exception {
        private static final long serialVersionUID = 1L;

        NotPossibleException(String message) {
            super(message);
        }
    }

    Trouble(Workers workers, RedisInstance redis, Events events) {
        this.workers = workers;
        this.redis = redis;
        this.events = events;
    }

    /** Whether Redis may be stopped and emptied. */
    boolean ownsRedis() {
        return redis instanceof RedisServer;
    }

    /** Whether Redis is stopped now. */
    synchronized boolean isRedisStopped() {
        return redisStopped;
    }

    /** Kills (SIGKILL) the worker that does most. Returns its name. */
    String killWorker() throws NotPossibleException {
        Workers.Worker killed = workers.kill()
                .orElseThrow(() -> new NotPossibleException("No worker is up, so there is none to kill."));
        events.add("killed " + killed.name() + " (kill -9 " + killed.pid() + ")");
        return killed.name();
    }

    /** Starts one more worker. Returns its name. */
    String addWorker() throws NotPossibleException {
        try {
            String name = workers.add().name();
            events.add("started " + name);
            return name;
        } catch (IllegalStateException e) {
            throw new NotPossibleException(String.valueOf(e.getMessage()));
        }
    }

    /** FLUSHALL: all jobs, leases and settings are gone. */
    synchronized void flush() throws NotPossibleException {
        requireRedis();
        try (RedisCommands commands = redis.connect()) {
            commands.call("FLUSHALL");
        }
        events.add("emptied Redis (FLUSHALL)");
    }

    /** Kills (SIGKILL) Redis, and starts it again, empty, after a while. Returns when it is dead. */
    synchronized void stopRedis(Duration downFor) throws NotPossibleException {
        RedisServer server = requireRedis();
        server.kill();
        redisStopped = true;
        events.add(
                "killed Redis for " + downFor.toMillis() / 1000.0 + " s; it has no file, so it will come back empty");
        var unused = later.schedule(() -> start(server), downFor.toMillis(), TimeUnit.MILLISECONDS);
    }

    private synchronized void start(RedisServer server) {
        if (closed) {
            return;
        }
        try {
            server.restart();
            redisStopped = false;
            events.add("started Redis again, empty");
        } catch (RuntimeException e) {
            events.add("Redis does not start again: " + e.getMessage());
        }
    }

    private RedisServer requireRedis() throws NotPossibleException {
        @Nullable RedisServer own = redis instanceof RedisServer server ? server : null;
        if (own == null) {
            throw new NotPossibleException("This Redis was not started by the demo, which leaves it alone.");
        }
        if (redisStopped) {
            throw new NotPossibleException("Redis is stopped already.");
        }
        return own;
    }

    /** Nothing is started again from now on. */
    @Override
    public synchronized void close() {
        closed = true;
        later.shutdownNow();
    }
}
