package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.report.html.HtmlPage;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Scenarios that send jobs by a plan and measure how late they start: {@code steady}, {@code burst}, {@code hot-minute}. */
@Command(
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no job of minutehand's was lost, early or started twice",
            "1:some job was; the lines FAILED say which",
            "2:the options are wrong",
            "3:a run could not be made"
        })
public final class RateCommand implements Callable<Integer> {
    private static final int NOT_RUN = 3;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Mixin
    private final LabOptions options = new LabOptions();

    private final Arrivals arrivals;

    private RateCommand(Arrivals arrivals) {
        this.arrivals = arrivals;
    }

    /** Jobs due one after the other. */
    public static RateCommand steady() {
        return new RateCommand(Arrivals.STEADY);
    }

    /** Jobs all due on one millisecond. */
    public static RateCommand burst() {
        return new RateCommand(Arrivals.BURST);
    }

    /** Jobs of which half are due in the first second of each minute. */
    public static RateCommand hotMinute() {
        return new RateCommand(Arrivals.HOT_MINUTE);
    }

    private String scenario() {
        return arrivals.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public Integer call() throws Exception {
        String refusal = options.refusal();
        if (refusal != null) {
            throw new ParameterException(spec.commandLine(), refusal);
        }
        for (Path file :
                Stream.of(options.json, options.html).filter(Objects::nonNull).toList()) {
            requireWritable(file);
        }
        for (Path directory :
                Stream.of(options.results, options.hdr).filter(Objects::nonNull).toList()) {
            requireDirectory(directory);
        }
        PrintWriter out = spec.commandLine().getOut();
        Path log = Files.createTempFile("minutehand-lab-", ".log");
        LogFile.use(log);
        List<List<SystemReport>> turns = new ArrayList<>();
        try (RedisInstance redis =
                RedisSource.forDemo(options.redis).open(RedisSettings.defaults().withAppendOnly())) {
            requireEmpty(redis);
            for (int turn = 0; turn < options.runs; turn++) {
                List<SystemReport> reports = new ArrayList<>();
                for (Scheduler scheduler : options.schedulers()) {
                    reports.add(measure(scheduler, turn, redis, out));
                }
                turns.add(reports);
            }
        } catch (IOException | IllegalStateException | UncheckedIOException e) {
            out.println("NOT RUN: " + e.getMessage());
            out.flush();
            return NOT_RUN;
        } finally {
            Files.deleteIfExists(log);
        }
        LabReport report = LabReport.of(scenario(), Machine.facts(), settings(), turns);
        report.lines().forEach(out::println);
        out.flush();
        if (options.json != null) {
            report.write(options.json);
        }
        if (options.html != null) {
            HtmlPage.write(LabPage.of(report), options.html);
        }
        return report.exitStatus();
    }

    /** Before the run: afterwards its figures would be lost. */
    private void requireWritable(Path file) {
        requireDirectory(Objects.requireNonNull(file.toAbsolutePath().getParent()));
        try (OutputStream probe = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            probe.flush();
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), file + " cannot be written: " + e, e);
        }
    }

    private void requireDirectory(Path directory) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), directory + " cannot be made: " + e, e);
        }
    }

    /** What is there already would be measured as well, and emptied. */
    private void requireEmpty(RedisInstance redis) {
        try (RedisCommands commands = redis.connect()) {
            long keys = commands.number("DBSIZE");
            if (keys > 0) {
                throw new ParameterException(
                        spec.commandLine(), "that Redis holds " + keys + " keys; --redis takes an empty one");
            }
        }
    }

    private SystemReport measure(Scheduler scheduler, int turn, RedisInstance redis, PrintWriter out)
            throws IOException, InterruptedException {
        LabSettings settings = options.settings(scheduler, arrivals, turn);
        Path file = options.results == null ? null : fileOf(options.results, scheduler, turn);
        if (file != null && Files.exists(file)) {
            SystemReport before = read(file, settings);
            out.println("run " + (turn + 1) + " " + scheduler.label() + " was made before: " + file);
            return before;
        }
        out.println("run " + (turn + 1) + " " + scheduler.label() + " ...");
        out.flush();
        SystemReport report;
        try (LabRun run = new LabRun(scenario(), settings, redis, options.storeRate)) {
            report = run.run();
            if (file != null) {
                Path draft = file.resolveSibling(file.getFileName() + ".draft");
                MAPPER.writeValue(draft.toFile(), report);
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            }
            if (options.hdr != null) {
                run.writeHistograms(options.hdr, scheduler.label() + "-" + (turn + 1));
            }
        }
        try (RedisCommands commands = redis.connect()) {
            commands.call("FLUSHALL", "SYNC");
        }
        return report;
    }

    private Path fileOf(Path directory, Scheduler scheduler, int turn) {
        return directory.resolve(
                scenario() + "-" + Math.round(options.rate) + "-" + scheduler.label() + "-" + (turn + 1) + ".json");
    }

    private SystemReport read(Path file, LabSettings settings) {
        try {
            SystemReport before = MAPPER.readValue(file.toFile(), SystemReport.class);
            if (!before.measuredWith().equals(settings.toString())) {
                throw new ParameterException(
                        spec.commandLine(),
                        file + " was measured with " + before.measuredWith() + ", which is not " + settings
                                + "; give another --results");
            }
            return before;
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), file + " is no report of a run: " + e.getMessage(), e);
        }
    }

    private Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("jobs", Long.toString(options.jobs()));
        settings.put("rate", Double.toString(options.rate));
        settings.put("nodes", Integer.toString(options.nodes));
        settings.put("producers", Integer.toString(options.producers));
        settings.put("shards", Integer.toString(options.shards));
        settings.put("slots", Integer.toString(options.slots));
        settings.put("payload bytes", Integer.toString(options.payload));
        boolean first = options.storedFirst || !options.against.isEmpty();
        settings.put("scheduled ahead", first ? "all stored before the first is due" : options.aheadMs + " ms");
        settings.put("runs", Integer.toString(options.runs));
        settings.put("redis", "append-only file on, unless the address was given");
        return settings;
    }
}
