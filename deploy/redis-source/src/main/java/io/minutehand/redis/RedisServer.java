package io.minutehand.redis;

import io.minutehand.source.Executables;
import io.minutehand.source.FreePorts;
import io.minutehand.source.Passwords;
import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.SourceKind;
import io.minutehand.source.Waiting;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Redis process of its own, on a free loopback port, with a random password, in a private directory. It can be
 * killed, stopped, continued and started again at the same address. It and its directory are gone after
 * {@link #close()} and when this JVM ends, however that ends; see {@link PrivateDirectory}.
 *
 * <p>The configuration is a file that only this user can read: a password among the arguments would show in the process
 * list. Thread-safe.
 */
public final class RedisServer implements RedisInstance {

    private static final Logger LOG = LoggerFactory.getLogger(RedisServer.class);

    private static final String HOST = "127.0.0.1";
    private static final String CONFIG_FILE = "redis.conf";
    private static final String LOG_FILE = "redis.log";
    private static final String CLOCK_FILE = "clock";
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(2);

    /** What the process is for. */
    enum Role {
        STANDALONE,
        CLUSTER_NODE,
        SENTINEL
    }

    private final RedisBinary binary;
    private final Role role;
    private final PrivateDirectory directory;
    private final int port;
    private final int busPort;
    private final String password;
    private final @Nullable SteppedClock clock;
    private Process process;

    private RedisServer(RedisBinary binary, Role role, RedisSettings settings, PrivateDirectory directory) {
        this.binary = binary;
        this.role = role;
        this.directory = directory;
        this.port = FreePorts.next();
        this.busPort = role == Role.CLUSTER_NODE ? FreePorts.next() : 0;
        this.password = settings.password() == null ? Passwords.random() : settings.password();
        this.clock = settings.steppedClock() ? steppedClock() : null;
        writeConfig(settings);
        this.process = launch();
    }

    /**
     * Starts a server of the {@linkplain RedisBinary#locate() located} program with the default settings.
     *
     * @throws IllegalStateException if there is no program, or if the server does not answer within 30 s
     */
    public static RedisServer start() {
        return start(RedisSettings.defaults());
    }

    /**
     * Starts a server of the {@linkplain RedisBinary#locate() located} program.
     *
     * @throws IllegalStateException if there is no program, or if the server does not answer within 30 s; the message
     *     ends with the last lines of its log
     */
    public static RedisServer start(RedisSettings settings) {
        return start(RedisBinary.locate(), settings);
    }

    /**
     * Starts a server of this program.
     *
     * @throws IllegalStateException if it does not answer within 30 s; the message ends with the last lines of its log
     */
    public static RedisServer start(RedisBinary binary, RedisSettings settings) {
        Deployment.SINGLE.note();
        return start(binary, settings, Role.STANDALONE);
    }

    static RedisServer start(RedisBinary binary, RedisSettings settings, Role role) {
        return PrivateDirectory.startServer("redis", directory -> {
            RedisServer server = new RedisServer(binary, role, settings, directory);
            server.awaitAnswer();
            LOG.info("redis: started {} role={} pid={}", server.describe(), role, server.pid());
            return server;
        });
    }

    /** {@code redis://:password@127.0.0.1:port}. Not for logs. */
    @Override
    public String uri() {
        return "redis://:" + password + "@" + HOST + ":" + port;
    }

    @Override
    public SourceKind kind() {
        return binary.kind();
    }

    @Override
    public String version() {
        return binary.version();
    }

    @Override
    public String describe() {
        return "source=" + kind().label() + " port=" + port + " " + binary.describe();
    }

    @Override
    public RedisCommands connect() {
        return RedisCommands.connect(uri());
    }

    /** The port on 127.0.0.1; it stays the same over {@link #restart()}. */
    public int port() {
        return port;
    }

    /** The password of the default user. */
    public String password() {
        return password;
    }

    /** The private directory: configuration, log ({@code redis.log}) and data. */
    public Path directory() {
        return directory.path();
    }

    /** The port of the cluster bus, or 0 for a server that is no cluster node. */
    int busPort() {
        return busPort;
    }

    /** The process id of the present, or of the last, process. */
    public synchronized long pid() {
        return process.pid();
    }

    /** True while the process exists, also while it is paused. */
    public synchronized boolean isAlive() {
        return process.isAlive();
    }

    /** Ends the process at once (SIGKILL), as a crash would. Data stays in the directory. Returns when it is gone. */
    public synchronized void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    /**
     * Ends the process at once (SIGKILL), as a crash would, and at a moment at which it holds nothing back that it has
     * answered: with an append-only file, {@link #restart()} finds all of that again.
     *
     * <p>With {@code appendfsync everysec}, Redis answers before it writes while an fsync runs, for up to 2 s. What a
     * crash takes then was lost by Redis, and says nothing of those who use it. To see that no fsync runs is not enough,
     * for the next may begin before the signal arrives. So Redis is told to leave syncing to the system first, and from
     * then on it writes before each answer; a crash of the process alone loses no write. The next start syncs as before.
     *
     * @throws UncheckedIOException if it does not answer, as a paused one
     */
    public synchronized void killOnceWritten() {
        try (RedisCommands commands = connect()) {
            commands.call("CONFIG", "SET", "appendfsync", "no");
        }
        kill();
    }

    /**
     * Starts the process again, on the same port and with the same data; kills it first if it runs. Returns when it
     * answers, with its data loaded.
     *
     * @throws IllegalStateException if it does not answer within 30 s
     */
    public synchronized void restart() {
        kill();
        process = launch();
        awaitAnswer();
    }

    /** Stops the process without ending it (SIGSTOP): connections stay open and nothing is answered. */
    public void pause() {
        signal("STOP");
    }

    /** Lets a paused process go on (SIGCONT). */
    public void resume() {
        signal("CONT");
    }

    /**
     * Steps the server's clock: within a second it differs from the machine's by so much, whole seconds.
     *
     * @throws IllegalStateException if the server was not started with {@link RedisSettings#withSteppedClock}
     */
    public void setClock(Duration offset) {
        if (clock == null) {
            throw new IllegalStateException(
                    "The clock of " + describe() + " cannot be set: start it withSteppedClock()");
        }
        clock.set(offset);
    }

    /** Kills the process and deletes its directory. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        directory.close();
    }

    @Override
    public String toString() {
        return describe();
    }

    private void writeConfig(RedisSettings settings) {
        List<String> config = new ArrayList<>();
        config.add("port " + port);
        config.add("bind " + HOST);
        if (role == Role.SENTINEL) {
            config.add("requirepass " + password);
            config.addAll(settings.lines());
        } else {
            if (role == Role.CLUSTER_NODE) {
                config.add("cluster-enabled yes");
                config.add("cluster-port " + busPort);
            }
            config.addAll(settings.toConfig(password));
        }
        directory.write(CONFIG_FILE, String.join("\n", config) + "\n");
    }

    private SteppedClock steppedClock() {
        if (binary.kind() == SourceKind.EMBEDDED) {
            throw new IllegalStateException(
                    "The clock of " + binary.describe() + " cannot be set, for nothing can stand"
                            + " between it and its own C library; install a redis-server");
        }
        return SteppedClock.create(directory.path().resolve(CLOCK_FILE));
    }

    private Process launch() {
        List<String> command = new ArrayList<>(List.of(binary.executable().toString(), CONFIG_FILE));
        if (role == Role.SENTINEL) {
            command.add("--sentinel");
        }
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.path().resolve(LOG_FILE).toFile()));
        if (clock != null) {
            builder.environment().putAll(clock.environment());
        }
        return directory.start(builder);
    }

    private void awaitAnswer() {
        Waiting.until("Redis on port " + port + " to answer PING", START_LIMIT, this::answers, this::lastLogLines);
    }

    private boolean answers() {
        if (!isAlive()) {
            throw new Waiting.GaveUp("Redis on port " + port + " ended before it answered; " + lastLogLines());
        }
        try (RedisCommands commands = RedisCommands.connect(uri(), PROBE_TIMEOUT)) {
            return "PONG".equals(commands.call("PING"));
        }
    }

    private String lastLogLines() {
        return directory.endOf(LOG_FILE);
    }

    private synchronized void signal(String name) {
        Executables.signal(process, name);
    }
}
