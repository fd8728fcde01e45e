package io.minutehand.loadtest.demo;

import io.minutehand.core.store.StoreException;
import io.minutehand.redis.RedisReplyException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code demo} command: its options, checked, and the run. */
@Command(
        name = "demo",
        description = {
            "Schedules jobs on several topics, drains them on worker processes, and shows how late they start.",
            "Without --redis it takes the redis-server or valkey-server on the PATH, else one that it brings along.",
            ""
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no job was lost, early or run twice",
            "1:some job was, or something else broke; the last lines say what",
            "2:the options are wrong",
            "3:the run proves nothing, for example because there was nothing to kill"
        })
public final class DemoCommand implements Callable<Integer> {
    /** Workers that a demo may have: more say nothing on one machine. */
    private static final int MOST_NODES = 32;

    private static final int MOST_SHARDS = 256;

    /** Exit status of a run that proves nothing. */
    static final int INVALID = 3;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(names = "--nodes", paramLabel = "N", description = "Worker processes, 1 to 32 (default ${DEFAULT-VALUE}).")
    private int nodes = 3;

    @Option(
            names = "--jobs",
            paramLabel = "N",
            description = "Jobs to schedule after the warm-up, 1 to 1,000,000 (default ${DEFAULT-VALUE}).")
    private int jobs = 10_000;

    @Option(names = "--rate", paramLabel = "N", description = "Jobs due in a second (default ${DEFAULT-VALUE}).")
    private double rate = 500;

    @Option(
            names = "--shards",
            paramLabel = "N",
            description = "Shards of each topic, 1 to 256 (default ${DEFAULT-VALUE}).")
    private int shards = 8;

    @Option(
            names = "--topics",
            paramLabel = "TOPIC",
            split = ",",
            description = "Which topics, of order.close.timeout, report.render and webhook.callback (default all).")
    private List<String> topics = DemoTopic.names();

    @Option(
            names = "--ahead",
            paramLabel = "SECONDS",
            description =
                    "Jobs are scheduled 2 s to this long before they are due, or exactly this long if it is less (default ${DEFAULT-VALUE}).")
    private double ahead = 10;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
            description = "Use this Redis, redis://[user:password@]host:port, in a namespace of its own that is deleted"
                    + " at the end (environment MINUTEHAND_REDIS).")
    private @Nullable String redis;

    @Option(
            names = "--kill-node-at",
            paramLabel = "SECONDS",
            description = "So long after the first job is due, SIGKILL a worker that has buckets and jobs.")
    private @Nullable Double killNodeAt;

    @Option(
            names = "--add-node-at",
            paramLabel = "SECONDS",
            description = "So long after the first job is due, start one more worker.")
    private @Nullable Double addNodeAt;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the report as JSON.")
    private @Nullable Path json;

    @Option(
            names = "--work-dir",
            paramLabel = "DIR",
            description = "Keep ledger and logs there; it must be empty or new (default a directory that goes away).")
    private @Nullable Path workDir;

    @Option(names = "--keep-keys", description = "Leave the keys in the Redis given by --redis.")
    private boolean keepKeys;

    @Option(names = "--plain", description = "Print lines even if this is a terminal.")
    private boolean plain;

    @Override
    public Integer call() throws Exception {
        DemoOptions options = options();
        try (DemoRun run = new DemoRun(options, Terminal.view(options))) {
            return run.run();
        } catch (InvalidRunException e) {
            error(e.getMessage());
            return INVALID;
        } catch (IllegalArgumentException e) {
            error(e.getMessage());
            return ExitCode.USAGE;
        } catch (RedisReplyException | StoreException e) {
            error("Redis refused: " + e.getMessage());
            return ExitCode.SOFTWARE;
        } catch (IllegalStateException | UncheckedIOException e) {
            error(e.getMessage());
            return ExitCode.SOFTWARE;
        } catch (IOException e) {
            // Its message is often no more than a file's name.
            error(e.toString());
            return ExitCode.SOFTWARE;
        }
    }

    /** Returns the options after checking them. */
    DemoOptions options() {
        require(nodes >= 1 && nodes <= MOST_NODES, "--nodes", nodes, "1 to " + MOST_NODES);
        require(jobs >= 1 && jobs <= Plan.MOST_JOBS, "--jobs", jobs, "1 to " + Plan.MOST_JOBS);
        require(rate >= 0.1 && rate <= 100_000, "--rate", rate, "0.1 to 100000");
        require(shards >= 1 && shards <= MOST_SHARDS, "--shards", shards, "1 to " + MOST_SHARDS);
        require(ahead >= 0.01 && ahead <= 86_400, "--ahead", ahead, "0.01 to 86400");
        Set<DemoTopic> chosen = new LinkedHashSet<>();
        for (String topic : topics) {
            try {
                chosen.add(DemoTopic.named(topic));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--topics: " + e.getMessage(), e);
            }
        }
        double lastDue = (jobs - 1) / rate;
        for (Double at :
                Stream.of(killNodeAt, addNodeAt).filter(value -> value != null).toList()) {
            require(
                    at >= 0 && at < lastDue,
                    at.equals(killNodeAt) ? "--kill-node-at" : "--add-node-at",
                    at,
                    "0 to the last due time, " + lastDue + " s for " + jobs + " jobs at " + rate + " a second");
        }
        require(killNodeAt == null || nodes >= 2, "--nodes", nodes, "2 or more if one of them is killed");
        requireEmpty(workDir);
        requireWritable(json);
        String address = redis == null || redis.isBlank() ? null : redis;
        return new DemoOptions(
                nodes,
                jobs,
                rate,
                shards,
                chosen,
                ahead,
                address,
                killNodeAt,
                addNodeAt,
                json,
                workDir,
                keepKeys,
                !plain && Terminal.isTerminal() && Terminal.columns() >= Dashboard.COLUMNS,
                Terminal.hasColour());
    }

    private void requireEmpty(@Nullable Path directory) {
        if (directory == null || !Files.exists(directory)) {
            return;
        }
        try (Stream<Path> entries = Files.list(directory)) {
            require(entries.findAny().isEmpty(), "--work-dir", directory, "an empty or new directory");
        } catch (IOException e) {
            throw new ParameterException(
                    spec.commandLine(), "--work-dir=" + directory + " cannot be read as a directory: " + e, e);
        }
    }

    /** Before the run, not after it: then it would be too late for another file. */
    private void requireWritable(@Nullable Path file) {
        if (file == null) {
            return;
        }
        require(!Files.isDirectory(file), "--json", file, "a file, and this is a directory");
        Path place = file.toAbsolutePath();
        while (place.getParent() != null && !Files.exists(place)) {
            place = place.getParent();
        }
        boolean possible = Files.isWritable(place) && (Files.isDirectory(place) || place.equals(file.toAbsolutePath()));
        require(possible, "--json", file, "a file that can be written, and " + place + " does not let it be");
    }

    private void require(boolean holds, String option, Object value, String allowed) {
        if (!holds) {
            throw new ParameterException(
                    spec.commandLine(), option + "=" + value + " is not allowed; it must be " + allowed);
        }
    }

    private void error(@Nullable String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("minutehand demo: " + message);
    }
}
