package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.report.html.HtmlPage;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * One call of a scenario: the Redis that it measures on, the files of its series, its reports. All that its processes log
 * is in one folder, which is gone at the end, however that comes, unless something failed. For one thread.
 */
final class LabSession {
    /** What reports say of a Redis that was started. */
    static final String REDIS = "append-only file on, unless the address was given";

    private static final int NOT_RUN = 3;
    private static final long FREE_LOOK_MS = 20;
    private static final ObjectMapper RUNS = new ObjectMapper();
    private static final ObjectMapper REPORTS = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);

    private final CommandSpec spec;
    private final SeriesOptions options;
    private final PrintWriter out;
    private final Path logs;
    private @Nullable RedisInstance redis;

    /** What a scenario does with its session. */
    interface Body {
        /**
         * Measures.
         *
         * @throws IllegalStateException or an IOException, if it cannot be measured
         */
        ScenarioReport measure(LabSession session) throws IOException, InterruptedException;
    }

    private LabSession(CommandSpec spec, SeriesOptions options, Path logs) {
        this.spec = spec;
        this.options = options;
        this.out = spec.commandLine().getOut();
        this.logs = logs;
    }

    /** A Redis as most scenarios want it. */
    static RedisSettings usualRedis() {
        return RedisSettings.defaults().withAppendOnly();
    }

    /**
     * Runs a scenario and writes its reports; returns the exit status.
     *
     * @param setup of the Redis that is started, unless an address is given
     */
    static int run(CommandSpec spec, SeriesOptions options, RedisSettings setup, Body body)
            throws IOException, InterruptedException {
        try (PrivateDirectory home = PrivateDirectory.create("lab-logs")) {
            LogFile.use(home.path().resolve("lab.log"));
            LabSession session = new LabSession(spec, options, home.path());
            int status = session.runLogged(setup, body);
            if (status != 0) {
                session.say("logs are in " + session.keepLogs());
            }
            return status;
        }
    }

    private int runLogged(RedisSettings setup, Body body) throws IOException, InterruptedException {
        try (RedisInstance started = RedisSource.forDemo(options.redis).open(setup)) {
            redis = started;
            requireEmpty(started);
            ScenarioReport report = body.measure(this);
            report.lines().forEach(out::println);
            out.flush();
            if (options.json != null) {
                REPORTS.writeValue(options.json.toFile(), report);
            }
            if (options.html != null) {
                HtmlPage.write(report.page(), options.html);
            }
            return report.exitStatus();
        } catch (IOException | IllegalStateException | UncheckedIOException e) {
            say("NOT RUN: " + e.getMessage());
            return NOT_RUN;
        }
    }

    RedisInstance redis() {
        if (redis == null) {
            throw new IllegalStateException("the session has no Redis yet");
        }
        return redis;
    }

    /** Prints a line at once. */
    void say(String line) {
        out.println(line);
        out.flush();
    }

    /** What is there already would be measured as well, and emptied. */
    private void requireEmpty(RedisInstance redis) {
        try (RedisCommands commands = redis.connect()) {
            long keys = commands.number("DBSIZE");
            Limits.require(spec, keys == 0, "that Redis holds " + keys + " keys; --redis takes an empty one");
        }
    }

    /** Copies the logs to where they survive. */
    private Path keepLogs() throws IOException {
        Path kept = Files.createTempDirectory("minutehand-lab-failed-");
        try (Stream<Path> files = Files.walk(logs)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = kept.resolve(logs.relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        return kept;
    }

    /**
     * What a measurement of this name found before, or finds now; then it is written for the next time, and Redis is
     * emptied.
     *
     * @param name of its file, without the ending
     * @param what it is, for people
     * @param measuredWith see {@link Saved}
     */
    <T extends Saved> T once(String name, String what, String measuredWith, Class<T> type, Callable<T> measurement)
            throws IOException, InterruptedException {
        Path file = options.results == null ? null : options.results.resolve(name + ".json");
        if (file != null && Files.exists(file)) {
            T before = read(file, type, measuredWith);
            say(what + " was made before: " + file);
            return before;
        }
        say(what + " ...");
        T found = call(measurement);
        if (file != null) {
            Path draft = file.resolveSibling(file.getFileName() + ".draft");
            RUNS.writeValue(draft.toFile(), found);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        }
        empty();
        return found;
    }

    /** Empties Redis and waits until it has freed the memory, which takes longer than a reply may for millions of jobs. */
    private void empty() throws InterruptedException {
        redis().callEach("FLUSHALL", "ASYNC");
        try (RedisCommands commands = redis().connect()) {
            while (!"0".equals(commands.info("memory").getOrDefault("lazyfree_pending_objects", "0"))) {
                Thread.sleep(FREE_LOOK_MS);
            }
        }
    }

    private static <T> T call(Callable<T> measurement) throws IOException, InterruptedException {
        try {
            return measurement.call();
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * A run of jobs: made now, or before.
     *
     * @param name of its file, without the ending
     * @param what it is, for people
     * @param hdr directory for its histograms, or null
     */
    SystemReport rateRun(
            String scenario, LabSettings settings, String name, String what, double storeRate, @Nullable Path hdr)
            throws IOException, InterruptedException {
        return once(name, what, settings.toString(), SystemReport.class, () -> {
            try (LabRun run =
                    new LabRun(scenario, settings, redis(), storeRate, logs.resolve(name), new LabRun.Observer() {})) {
                SystemReport report = run.run();
                if (hdr != null) {
                    run.writeHistograms(hdr, hdrName(name, scenario, settings));
                }
                return report;
            }
        });
    }

    private static String hdrName(String name, String scenario, LabSettings settings) {
        return name.substring((scenario + "-" + Math.round(settings.rate()) + "-").length());
    }

    /** Where the logs of a part of the session go if it fails. */
    Path logs(String name) {
        return logs.resolve(name);
    }

    private <T extends Saved> T read(Path file, Class<T> type, String measuredWith) {
        try {
            T before = RUNS.readValue(file.toFile(), type);
            Limits.require(
                    spec,
                    before.measuredWith().equals(measuredWith),
                    file + " was measured with " + before.measuredWith() + ", which is not " + measuredWith
                            + "; give another --results");
            return before;
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), file + " is no report of a run: " + e.getMessage(), e);
        }
    }

    /** The lines of a report that tell what failed in runs. */
    static List<String> failures(List<SystemReport> runs) {
        return runs.stream()
                .flatMap(run -> run.failures().stream().map(failure -> "FAILED " + run.system() + ": " + failure))
                .toList();
    }
}
