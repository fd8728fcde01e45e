package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.report.OutputFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The {@code bench fault} command: runs rows of the fault matrix. */
@Command(
        name = "fault",
        description = {
            "Breaks one thing after the other under load, and says whether what is promised holds.",
            "Each row brings its own Redis and worker processes. Its verdict comes from append-only files of the processes.",
            ""
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the pass lines of all rows hold",
            "1:some do not; the lines FAILED say which",
            "2:the options are wrong",
            "3:a row could not be run, which says nothing about the product"
        })
public final class FaultCommand implements Callable<Integer> {
    private static final int NOT_RUN = 3;
    private static final int LONGEST_MINUTES = 7 * 24 * 60;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "ROW", description = "Numbers of rows; see --list.")
    private List<String> numbers = new ArrayList<>();

    @Option(names = "--list", description = "List the rows and end.")
    private boolean list;

    @Option(names = "--all", description = "Run all rows, one after the other.")
    private boolean all;

    @Option(names = "--full", description = "The full form: default times, 12,000 jobs over 60 s and more faults.")
    private boolean full;

    @Option(names = "--seed", description = "Seed of load and faults; a new one each time unless given.")
    private @Nullable Long seed;

    @Option(
            names = "--times",
            paramLabel = "N",
            defaultValue = "1",
            description = "Run each row so often, with the seeds that follow --seed.")
    private int times;

    @Option(
            names = "--minutes",
            paramLabel = "M",
            description = "Schedule jobs for so long, at the rate of the row, and break things as long.")
    private @Nullable Integer minutes;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the report of the row there.")
    private @Nullable Path json;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = {
                "Write a report of each row into this directory. With --all rows whose report is there are not run again,",
                "so that a long run can be split and resumed."
            })
    private @Nullable Path results;

    @Option(
            names = "--report",
            paramLabel = "FILE",
            description = "Write the table of all reports in the directory of --results there.")
    private @Nullable Path report;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            FaultRows.all().forEach(row -> out.printf("%4s  %-60s %s%n", row.number(), row.fault(), row.passLine()));
            return ExitCode.OK;
        }
        List<FaultRow> rows = chosen();
        OutputFiles.requireWritable(spec, json, report);
        OutputFiles.requireDirectories(spec, results);
        Path log = Files.createTempFile("minutehand-fault-", ".log");
        LogFile.use(log);
        int status = ExitCode.OK;
        for (FaultRow row : rows) {
            if (all && results != null && Files.exists(fileOf(results, row, seed))) {
                Path before = fileOf(results, row, seed);
                boolean passed = FaultTable.passed(before);
                out.println("row " + row.number() + " was run before" + (passed ? ": " : " and FAILED: ") + before);
                status = Math.max(status, passed ? ExitCode.OK : ExitCode.SOFTWARE);
                continue;
            }
            long first = seed == null ? new Random().nextInt(Integer.MAX_VALUE) : seed;
            status = Math.max(status, run(row, first, out));
            for (int i = 1; i < times; i++) {
                // A row keeps what its script learned.
                FaultRow anew = FaultRows.find(row.number()).orElseThrow();
                status = Math.max(status, run(anew, first + i, out));
            }
        }
        if (report != null && results != null) {
            FaultTable.of(results).write(report);
            out.println("table written to " + report);
        }
        Files.deleteIfExists(log);
        return status;
    }

    private int run(FaultRow row, long dice, PrintWriter out) throws IOException {
        RunSettings settings = row.settings(full);
        if (minutes != null) {
            settings = settings.withSchedule(Duration.ofMinutes(minutes));
        }
        out.println("row " + row.number() + ": " + row.fault() + ", seed " + dice);
        out.flush();
        FaultReport result;
        try {
            result = new FaultRun(row, settings, dice).run();
        } catch (Exception e) {
            out.println("NOT RUN: " + e.getMessage());
            out.flush();
            return NOT_RUN;
        }
        result.lines().forEach(out::println);
        out.flush();
        if (json != null) {
            result.write(json);
        }
        if (results != null) {
            result.write(fileOf(results, row, dice));
        }
        return result.exitStatus();
    }

    private Path fileOf(Path directory, FaultRow row, @Nullable Long dice) {
        return directory.resolve("row-" + row.number() + (full ? "-full" : "-short")
                + (minutes == null ? "" : "-" + minutes + "-minutes")
                + (times == 1 ? "" : "-seed-" + dice) + ".json");
    }

    private List<FaultRow> chosen() {
        if (report != null && results == null) {
            throw refused("--report makes its table of the directory that --results names; give it too");
        }
        if (minutes != null && minutes > LONGEST_MINUTES) {
            throw refused("--minutes=" + minutes + " is more than a week, " + LONGEST_MINUTES);
        }
        if (all && seed != null) {
            throw refused("--all takes what was run before whatever its seed was; --seed goes with numbers of rows");
        }
        if (times < 1 || (minutes != null && minutes < 1)) {
            throw refused("--times and --minutes are 1 or more");
        }
        if (times > 1 && (json != null || all)) {
            throw refused("--times makes several reports of a row; it goes with numbers of rows and --results");
        }
        if (all) {
            if (!numbers.isEmpty() || json != null) {
                throw refused("--all runs all rows: it goes with --results, not with numbers of rows or --json");
            }
            return FaultRows.all();
        }
        if (numbers.isEmpty() && report == null) {
            throw refused("Which row? --list tells them.");
        }
        if (numbers.size() > 1 && json != null) {
            throw refused("--json takes the report of one row, and " + numbers.size() + " are named; use --results");
        }
        List<FaultRow> rows = new ArrayList<>();
        for (String number : numbers) {
            rows.add(FaultRows.find(number)
                    .orElseThrow(() -> refused("There is no row " + number + "; --list tells them.")));
        }
        return rows;
    }

    private ParameterException refused(String why) {
        return new ParameterException(spec.commandLine(), why);
    }
}
