package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.rounded;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How many jobs a second producers can hand over: one process, from some threads, one by one and in bulk. */
@Command(
        name = "producers",
        description = {"Measures how many jobs a second a producer process can store.", ""},
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:every job was stored",
            "1:some were refused",
            "2:the options are wrong",
            "3:a run could not be made"
        })
public final class ProducersCommand implements Callable<Integer> {
    private static final int HEAP_MB = 768;
    private static final long PATIENCE_MS = 60_000;
    private static final String SCENARIO = "producers";

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

    @Option(names = "--payload", paramLabel = "BYTES", description = "Size of a payload (default ${DEFAULT-VALUE}).")
    private int payload = 100;

    @Mixin
    private final SeriesOptions series = new SeriesOptions();

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
            double producerCpuUsPerJob,
            String measuredWith)
            implements Saved {
        private String name() {
            return (bulk ? "bulk " : "single ") + threads + " threads";
        }
    }

    record Report(String scenario, Map<String, String> machine, Map<String, String> settings, List<Row> rows)
            implements ScenarioReport {
        private double median(List<Row> of, ToDoubleFunction<Row> figure) {
            return Figures.median(of.stream().mapToDouble(figure));
        }

        private Map<String, List<Row>> cases(boolean withSystem) {
            Map<String, List<Row>> cases = new LinkedHashMap<>();
            rows.forEach(row -> cases.computeIfAbsent(
                            (withSystem ? row.system() + " " : "") + row.name(), unused -> new ArrayList<>())
                    .add(row));
            return cases;
        }

        @Override
        public List<String> lines() {
            Table table = new Table("stored", "jobs/s", "Redis us/job", "producer us/job");
            cases(true)
                    .forEach((name, all) -> table.row(
                            name,
                            Figures.count(Math.round(median(all, Row::storedPerSec))),
                            Figures.one(median(all, Row::redisCpuUsPerJob)),
                            Figures.one(median(all, Row::producerCpuUsPerJob))));
            return table.lines();
        }

        @Override
        public HtmlReport page() {
            List<String> systems = rows.stream().map(Row::system).distinct().toList();
            PageBuilder page = new PageBuilder(SCENARIO, machine, settings, systems);
            cases(false)
                    .forEach((name, all) -> page.figures(name + ", jobs stored a second", systems, system -> {
                        List<Row> own = all.stream()
                                .filter(row -> row.system().equals(system))
                                .toList();
                        return own.isEmpty() ? "" : Figures.count(Math.round(median(own, Row::storedPerSec)));
                    }));
            return page.build();
        }

        @Override
        public int exitStatus() {
            return rows.stream().allMatch(row -> row.refused() == 0 && row.stored() > 0)
                    ? ExitCode.OK
                    : ExitCode.SOFTWARE;
        }
    }

    @Override
    public Integer call() throws Exception {
        Limits.require(
                spec,
                seconds > 0
                        && payload >= JobPayload.LEAST_BYTES
                        && threads.stream().allMatch(count -> count >= 1),
                "--seconds and --threads must be positive, --payload 16 or more");
        List<Scheduler> schedulers = new ArrayList<>(List.of(Scheduler.MINUTEHAND));
        for (String name : against) {
            Limits.require(
                    spec,
                    Scheduler.labels().contains(name),
                    "--against=" + name + " is not known; there are " + Scheduler.labels());
            schedulers.add(Scheduler.named(name));
        }
        series.check(spec);
        return LabSession.run(spec, series, LabSession.usualRedis(), session -> measure(session, schedulers));
    }

    private Report measure(LabSession session, List<Scheduler> schedulers) throws IOException, InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (int run = 1; run <= series.runs; run++) {
            int turn = run;
            for (Scheduler scheduler : schedulers) {
                for (int count : threads) {
                    for (boolean bulk : new boolean[] {false, true}) {
                        String name = scheduler.label() + (bulk ? "-bulk-" : "-single-") + count + "-" + turn;
                        Row row = session.once(
                                SCENARIO + "-" + name,
                                "run " + turn + " " + scheduler.label() + (bulk ? " bulk " : " single ") + count
                                        + " threads",
                                measuredWith(),
                                Row.class,
                                () -> measure(session, scheduler, count, bulk, turn));
                        session.say("  " + Figures.count(Math.round(row.storedPerSec())) + " jobs a second");
                        rows.add(row);
                    }
                }
            }
        }
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("seconds", Double.toString(seconds));
        settings.put("payload bytes", Integer.toString(payload));
        settings.put("runs", Integer.toString(series.runs));
        settings.put("redis", LabSession.REDIS);
        return new Report(SCENARIO, Machine.facts(), settings, rows);
    }

    private String measuredWith() {
        return "seconds=" + seconds + " payload=" + payload;
    }

    private Row measure(LabSession session, Scheduler scheduler, int count, boolean bulk, int turn)
            throws IOException, InterruptedException {
        LabSettings settings = new LoadOptions(1)
                .settings(scheduler, "mhflood" + turn, 1, 0, 0, 8)
                .withPayload(payload);
        try (PrivateDirectory home = PrivateDirectory.create("flood");
                RedisMeter meter = RedisMeter.of(session.redis())) {
            settings.write(home.path());
            LabProcesses processes = new LabProcesses(home, session.redis(), WorkerProcess.Compiler.SOON);
            try {
                return measure(processes, meter, home, scheduler, count, bulk, turn);
            } catch (IOException | RuntimeException e) {
                processes.keepLogs(session.logs(scheduler.label() + "-" + turn));
                throw e;
            }
        }
    }

    private Row measure(
            LabProcesses processes,
            RedisMeter meter,
            PrivateDirectory home,
            Scheduler scheduler,
            int count,
            boolean bulk,
            int turn)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--threads=" + count, "--seconds=" + seconds));
        if (bulk) {
            arguments.add("--bulk");
        }
        long patienceMs = PATIENCE_MS + (long) (seconds * 1_000);
        WorkerProcess process = processes.addProducer("flood", "lab-flood", HEAP_MB, arguments);
        processes.awaitStart();
        Phase.WARMUP.begin(home.path(), 0);
        processes.await("the warm-up to end", patienceMs, () -> processes.producersAre("warm_done"));
        double redisBeforeUs = meter.cpuUs();
        long cpuBeforeUs = process.status().count("cpu_us");
        Phase.MEASURED.begin(home.path(), 0);
        processes.await("the producer to end", patienceMs, () -> processes.producersAre("done"));
        double redisUs = meter.cpuUs() - redisBeforeUs;
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
                rounded((process.status().count("cpu_us") - cpuBeforeUs) / (double) stored),
                measuredWith());
        processes.stop();
        return row;
    }
}
