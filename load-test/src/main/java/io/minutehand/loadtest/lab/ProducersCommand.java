package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.redis.PrivateDirectory;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import io.minutehand.redis.RedisSourceKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How many jobs a second producers can hand over: one process, from some threads, one by one and in bulk. */
@Command(
        name = "producers",
        description = {"Measures how many jobs a second a producer process can store.", ""},
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:every job was stored", "1:some were refused", "2:the options are wrong"})
public final class ProducersCommand implements Callable<Integer> {
    private static final int HEAP_MB = 768;
    private static final long LOOK_MS = 20;
    private static final long PATIENCE_MS = 60_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(names = "--seconds", paramLabel = "S", description = "How long each case lasts (default ${DEFAULT-VALUE}).")
    private double seconds = 10;

    @Option(
            names = "--threads",
            paramLabel = "N",
            split = ",",
            description = "Numbers of threads (default 1, 4 and 16).")
    private List<Integer> threads = List.of(1, 4, 16);

    @Option(
            names = "--against",
            paramLabel = "SYSTEM",
            split = ",",
            description = "Measure others too, see bench steady.")
    private List<String> against = new ArrayList<>();

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "So many turns; medians are shown (default ${DEFAULT-VALUE}).")
    private int runs = 1;

    @Option(names = "--payload", paramLabel = "BYTES", description = "Size of a payload (default ${DEFAULT-VALUE}).")
    private int payload = 100;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the report there.")
    private @Nullable Path json;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            description = "Redis to measure on, an empty one. Else one is started.")
    private @Nullable String redisUri;

    /**
     * One case in one turn.
     *
     * @param producerCpuUsPerJob CPU time of the producer process by job
     */
    record Row(
            String system,
            int threads,
            boolean bulk,
            int turn,
            long stored,
            long refused,
            double storedPerSec,
            double redisCpuUsPerJob,
            double producerCpuUsPerJob) {}

    record Report(Map<String, String> machine, double seconds, int payloadBytes, List<Row> rows) {}

    @Override
    public Integer call() throws Exception {
        if (seconds <= 0
                || runs < 1
                || payload < JobPayload.LEAST_BYTES
                || threads.stream().anyMatch(count -> count < 1)) {
            throw new ParameterException(
                    spec.commandLine(), "--seconds, --runs and --threads must be positive, --payload 16 or more");
        }
        List<Scheduler> schedulers = new ArrayList<>(List.of(Scheduler.MINUTEHAND));
        for (String name : against) {
            try {
                schedulers.add(Scheduler.named(name));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--against: " + e.getMessage(), e);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        Path log = Files.createTempFile("minutehand-lab-", ".log");
        LogFile.use(log);
        List<Row> rows = new ArrayList<>();
        try (RedisInstance redis =
                RedisSource.forDemo(redisUri).open(RedisSettings.defaults().withAppendOnly())) {
            for (int turn = 1; turn <= runs; turn++) {
                for (Scheduler scheduler : schedulers) {
                    for (int count : threads) {
                        for (boolean bulk : new boolean[] {false, true}) {
                            rows.add(measure(scheduler, count, bulk, turn, redis));
                            out.println(rows.get(rows.size() - 1));
                            out.flush();
                        }
                    }
                }
            }
        }
        Files.deleteIfExists(log);
        table(rows).lines().forEach(out::println);
        out.flush();
        if (json != null) {
            new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .writeValue(json.toFile(), new Report(Machine.facts(), seconds, payload, rows));
        }
        return rows.stream().allMatch(row -> row.refused() == 0 && row.stored() > 0) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private Row measure(Scheduler scheduler, int count, boolean bulk, int turn, RedisInstance redis)
            throws IOException, InterruptedException {
        LabSettings settings = new LabSettings(
                scheduler,
                "mhflood" + turn,
                Arrivals.STEADY,
                1,
                0,
                1,
                0,
                payload,
                0,
                1,
                8,
                64,
                LabSettings.Planted.NONE);
        try (PrivateDirectory home = PrivateDirectory.create("flood");
                RedisCommands commands = redis.connect()) {
            settings.write(home.path());
            List<String> arguments = new ArrayList<>(List.of(
                    "--name",
                    "flood",
                    "--work-dir",
                    home.path().toString(),
                    "--threads=" + count,
                    "--seconds=" + seconds));
            if (bulk) {
                arguments.add("--bulk");
            }
            WorkerProcess process = WorkerProcess.start(
                    "flood",
                    home,
                    new WorkerProcess.Kind(
                            "lab-flood",
                            HEAP_MB,
                            name -> arguments,
                            name -> Map.of(LabProcess.REDIS_VARIABLE, redis.uri())),
                    home.path().resolve("flood.err.log"),
                    unused -> {});
            await(process, () -> process.nodeId() != null);
            Phase.WARMUP.begin(home.path(), 0);
            await(process, () -> process.status().count("warm_done") == 1);
            double redisBeforeUs = LabRun.cpuUs(commands);
            long cpuBeforeUs = process.status().count("cpu_us");
            Phase.MEASURED.begin(home.path(), 0);
            await(process, () -> process.status().count("done") == 1);
            double redisUs = LabRun.cpuUs(commands) - redisBeforeUs;
            long stored = process.status().count("stored");
            Row row = new Row(
                    scheduler.label(),
                    count,
                    bulk,
                    turn,
                    stored,
                    process.status().count("refused"),
                    Math.round(stored * 1e6 / process.status().count("elapsed_us")),
                    rounded(redisUs / stored),
                    rounded((process.status().count("cpu_us") - cpuBeforeUs) / (double) stored));
            process.stop();
            if (process.awaitEnd(PATIENCE_MS) == null) {
                process.kill();
            }
            if (redis.kind() != RedisSourceKind.ADDRESS) {
                commands.call("FLUSHALL", "SYNC");
            }
            return row;
        }
    }

    private void await(WorkerProcess process, BooleanSupplier condition) throws InterruptedException {
        long deadlineNs = System.nanoTime() + (PATIENCE_MS + (long) (seconds * 1_000)) * 1_000_000;
        while (!condition.getAsBoolean()) {
            if (!process.isAlive() || System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(process.name() + " came to nothing: " + process.status());
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private static Table table(List<Row> rows) {
        Map<String, List<Row>> cases = new LinkedHashMap<>();
        rows.forEach(row -> cases.computeIfAbsent(
                        row.system() + (row.bulk() ? " bulk" : " single") + " " + row.threads() + " threads",
                        unused -> new ArrayList<>())
                .add(row));
        Table table = new Table("stored", "jobs/s", "Redis us/job", "producer us/job");
        cases.forEach((name, all) -> table.row(
                name,
                Figures.count(Math.round(
                        median(all.stream().mapToDouble(Row::storedPerSec).toArray()))),
                Figures.one(
                        median(all.stream().mapToDouble(Row::redisCpuUsPerJob).toArray())),
                Figures.one(median(
                        all.stream().mapToDouble(Row::producerCpuUsPerJob).toArray()))));
        return table;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        int middle = values.length / 2;
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    private static double rounded(double figure) {
        return Math.round(figure * 1_000) / 1_000.0;
    }
}
