package io.minutehand.postgres;

import io.minutehand.redis.Deployment;
import io.minutehand.source.Executables;
import io.minutehand.source.FreePorts;
import io.minutehand.source.Passwords;
import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.SourceKind;
import io.minutehand.source.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL of its own, on a free loopback port, with a random password, in a private directory. It can be killed and
 * started again at the same address. It and its directory are gone after {@link #close()} and when this JVM ends, however
 * that ends; see {@link PrivateDirectory}. For that the private directory is the data directory itself: a server works in
 * its data directory, and what works in the private one is killed. Thread-safe.
 */
public final class PostgresServer implements PostgresInstance {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresServer.class);

    private static final String HOST = "127.0.0.1";
    private static final String USER = "postgres";
    private static final String LOG_FILE = "server.log";
    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final int PROBE_TIMEOUT_S = 5;

    /** Small, and nothing outside of the data directory: no socket file, no shared memory file that a kill leaves. */
    private static final List<String> SETTINGS = List.of(
            "listen_addresses=" + HOST,
            "unix_socket_directories=",
            "dynamic_shared_memory_type=mmap",
            "shared_buffers=32MB",
            "max_connections=100",
            "jit=off");

    /** The machine may lose what was committed, the server itself does not: a killed process loses nothing. */
    private static final List<String> WITHOUT_DISK = List.of("fsync=off", "full_page_writes=off");

    private final PostgresBinary binary;
    private final Unprivileged way;
    private final PrivateDirectory directory;
    private final boolean durable;
    private final int port;
    private final String password = Passwords.random();
    private Process process;

    private PostgresServer(PostgresBinary binary, Unprivileged way, PrivateDirectory directory, boolean durable) {
        this.binary = binary;
        this.way = way;
        this.directory = directory;
        this.durable = durable;
        this.port = FreePorts.next();
        way.own(directory.path());
        initialize();
        this.process = launch();
    }

    /**
     * Starts a server of the {@linkplain PostgresBinary#locate() located} programs for a test: it does not wait for the
     * disk.
     *
     * @throws IllegalStateException if there are no programs, or if the server does not answer within 60 s
     */
    public static PostgresServer start() {
        return start(PostgresBinary.locate(), false);
    }

    /** @param durable if it waits for the disk when it commits */
    static PostgresServer start(PostgresBinary binary, boolean durable) {
        return start(binary, durable, Unprivileged.ofThisProcess());
    }

    static PostgresServer start(PostgresBinary binary, boolean durable, Unprivileged way) {
        Deployment.ofPostgres(binary.kind()).note();
        return PrivateDirectory.startServer("postgres", directory -> {
            PostgresServer server = new PostgresServer(binary, way, directory, durable);
            server.awaitAnswer();
            LOG.info("postgres: started {} pid={}", server.describe(), server.pid());
            return server;
        });
    }

    @Override
    public String url() {
        return "jdbc:postgresql://" + HOST + ":" + port + "/postgres?user=" + USER + "&password=" + password;
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

    /** The port on 127.0.0.1; it stays the same over {@link #restart()}. */
    public int port() {
        return port;
    }

    /** The private directory: data, configuration and log ({@code server.log}). */
    public Path directory() {
        return directory.path();
    }

    /** The process id of the present, or of the last, server. */
    public synchronized long pid() {
        return process.pid();
    }

    /** Ends the server and its backends at once (SIGKILL), as a crash would. Returns when they are gone. */
    public synchronized void kill() {
        // All of them, and first: a backend of a killed server would still write while the next one starts.
        directory.killProcesses();
    }

    /**
     * Starts the server again, on the same port and with the same data; kills it first if it runs. Returns when it
     * answers.
     *
     * @throws IllegalStateException if it does not answer within 60 s
     */
    public synchronized void restart() {
        kill();
        process = launch();
        awaitAnswer();
    }

    /** Ends the server and deletes its directory. Calling it again does nothing. */
    @Override
    public synchronized void close() {
        if (way != Unprivileged.NAMESPACE && process.isAlive()) {
            // Killed, it would leave a segment of shared memory behind.
            stop();
        }
        directory.close();
    }

    @Override
    public String toString() {
        return describe();
    }

    /** Fills the directory. The password goes through a file elsewhere: the directory must be empty. */
    private void initialize() {
        try (PrivateDirectory secrets = PrivateDirectory.create("postgres-setup")) {
            Path file = secrets.write("password", password + "\n");
            way.own(secrets.path());
            // Nothing is lost with an empty server, and this one does not outlive its machine.
            List<String> command = List.of(
                    binary.program("initdb").toString(),
                    "--pgdata=" + directory.path(),
                    "--username=" + USER,
                    "--pwfile=" + file,
                    "--auth=scram-sha-256",
                    "--encoding=UTF8",
                    "--no-locale",
                    "--no-sync");
            Process initdb = directory.start(builder(command).redirectErrorStream(true));
            initdb.getOutputStream().close();
            String output = new String(initdb.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (initdb.waitFor() != 0) {
                throw new IllegalStateException("'" + String.join(" ", command) + "' ended with status "
                        + initdb.exitValue() + ": " + output.trim());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Setting PostgreSQL up failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while PostgreSQL was set up", e);
        }
    }

    private Process launch() {
        List<String> command = new ArrayList<>(List.of(
                binary.program("postgres").toString(), "-D", directory.path().toString(), "-p", "" + port));
        List<String> settings = new ArrayList<>(SETTINGS);
        if (!durable) {
            settings.addAll(WITHOUT_DISK);
        }
        for (String setting : settings) {
            command.add("-c");
            command.add(setting);
        }
        return directory.start(builder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.path().resolve(LOG_FILE).toFile())));
    }

    /** With messages in English, whatever the user reads: one of them is looked for. */
    private ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(way.wrap(command));
        builder.environment().put("LC_ALL", "C");
        // Whoever has set these for clients does not mean this server.
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        return builder;
    }

    private void awaitAnswer() {
        Waiting.until("PostgreSQL on port " + port + " to answer", START_LIMIT, this::answers, this::lastLogLines);
    }

    private boolean answers() throws Exception {
        if (!process.isAlive()) {
            throw new Waiting.GaveUp("PostgreSQL on port " + port + " ended before it answered; " + lastLogLines());
        }
        var source = Jdbc.parse(url());
        source.setLoginTimeout(PROBE_TIMEOUT_S);
        source.setSocketTimeout(PROBE_TIMEOUT_S);
        try (var connection = source.getConnection()) {
            return connection.isValid(PROBE_TIMEOUT_S);
        }
    }

    private String lastLogLines() {
        return directory.endOf(LOG_FILE);
    }

    /** Asks it to end without a clean-up of its data (SIGQUIT), and waits a while. */
    private void stop() {
        try {
            Executables.signal(process, "QUIT");
            process.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (IllegalStateException e) {
            LOG.debug("postgres: could not be asked to end, and is killed pid={}", process.pid(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
