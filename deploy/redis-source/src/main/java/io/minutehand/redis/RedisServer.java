package io.minutehand.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    private static final int PORT_TRIES = 5;
    private static final int SHOWN_LOG_LINES = 15;
    private static final String PORT_TAKEN = "Address already in use";

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

    private RedisServer(RedisBinary binary, Role role, RedisSettings settings, PrivateDirectory directory)
            throws IOException {
        this.binary = binary;
        this.role = role;
        this.directory = directory;
        this.port = FreePorts.next();
        this.busPort = role == Role.CLUSTER_NODE ? FreePorts.next() : 0;
        this.password = settings.password() == null ? RedisSettings.randomPassword() : settings.password();
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
        for (int attempt = 1; ; attempt++) {
            PrivateDirectory directory = PrivateDirectory.create("redis");
            try {
                RedisServer server = new RedisServer(binary, role, settings, directory);
                server.awaitAnswer();
                LOG.info("redis: started {} role={} pid={}", server.describe(), role, server.pid());
                return server;
            } catch (IOException e) {
                directory.close();
                throw new UncheckedIOException("Writing the configuration of Redis failed: " + e.getMessage(), e);
            } catch (RuntimeException e) {
                directory.close();
                // Another process took the port between the look and the start.
                if (attempt == PORT_TRIES || !String.valueOf(e.getMessage()).contains(PORT_TAKEN)) {
                    throw e;
                }
            }
        }
    }

    /** {@code redis://:password@127.0.0.1:port}. Not for logs. */
    @Override
    public String uri() {
        return "redis://:" + password + "@" + HOST + ":" + port;
    }

    @Override
    public RedisSourceKind kind() {
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

    private void writeConfig(RedisSettings settings) throws IOException {
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
        Path file = directory.path().resolve(CONFIG_FILE);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(file, config, StandardCharsets.UTF_8);
    }

    private SteppedClock steppedClock() {
        if (binary.kind() == RedisSourceKind.EMBEDDED) {
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
        try {
            List<String> lines = Files.readAllLines(directory.path().resolve(LOG_FILE));
            return "its log ends with:\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - SHOWN_LOG_LINES), lines.size()));
        } catch (IOException e) {
            return "its log cannot be read: " + e.getMessage();
        }
    }

    private synchronized void signal(String name) {
        // The shell's own kill: the program of that name is not on every machine.
        try {
            Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + process.pid()).start();
            if (!kill.waitFor(START_LIMIT.toSeconds(), TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("SIG" + name + " did not reach process " + process.pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Sending SIG" + name + " failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending SIG" + name, e);
        }
    }
}
