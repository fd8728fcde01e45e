package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.redis.RedisSettings;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What scheduling and draining a job costs Redis while few or many other jobs wait. */
@Command(
        name = "backlog",
        description = {
            "Measures what a job costs Redis while other jobs wait that are due much later.",
            "Stores the jobs that wait in bulk, lets Redis end the growth of its tables, and then measures in two phases: all",
            "jobs are sent at the rate, and none is due; then they come due at the rate, and none is sent.",
            ""
        },
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
public final class BacklogCommand implements Callable<Integer> {
    static final String SCENARIO = "backlog";

    private static final int FILL_HEAP_MB = 768;

    /** Jobs a second that a filling producer stores at the very least. */
    private static final long SLOWEST_FILL = 2_000;

    /** Between the last job that is sent and the first that is due: what Redis does without jobs is measured in it. */
    private static final long GAP_MS = 5_000;

    private static final long LONGEST_PHASE_S = 3_600;
    private static final long MOST_PENDING = 50_000_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--pending",
            paramLabel = "N",
            split = ",",
            description = "How many jobs wait: each number is measured (default 50000,5000000).")
    private List<Long> pending = List.of(50_000L, 5_000_000L);

    @Option(
            names = "--spread",
            paramLabel = "MINUTES",
            description = "Over how many minutes they are due, from three hours ahead (default ${DEFAULT-VALUE}).")
    private long spreadMinutes = 600;

    @Option(names = "--jobs", paramLabel = "N", description = "Measured jobs (default ${DEFAULT-VALUE}).")
    private long jobs = 100_000;

    @Option(
            names = "--against",
            paramLabel = "SYSTEM",
            split = ",",
            description = "Measure others too, one after the other: single-zset, zset-tuned.")
    private List<String> against = new ArrayList<>();

    @Option(names = "--nodes", paramLabel = "N", description = "Worker processes (default ${DEFAULT-VALUE}).")
    private int nodes = 3;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the topic (default ${DEFAULT-VALUE}).")
    private int shards = 8;

    @Mixin
    private final LoadOptions load = new LoadOptions(2_000);

    @Mixin
    private final SeriesOptions series = new SeriesOptions();

    @Override
    public Integer call() throws Exception {
        load.check(spec);
        LoadOptions.checkJobs(spec, jobs, "--jobs");
        pending.forEach(count -> Limits.within(spec, "--pending", count, 1, MOST_PENDING, ""));
        Limits.require(
                spec,
                !pending.isEmpty() && pending.stream().distinct().count() == pending.size(),
                "--pending needs numbers, each once");
        Limits.within(spec, "--spread", spreadMinutes, 1, 1_000_000, " minutes");
        Limits.require(
                spec,
                jobs / load.rate <= LONGEST_PHASE_S,
                "--jobs=" + jobs + " at --rate=" + load.rate
                        + " take more than an hour; choose fewer or a higher rate");
        Limits.count(spec, "--nodes", nodes);
        Limits.count(spec, "--shards", shards);
        for (String name : against) {
            Limits.require(
                    spec,
                    name.equals(Scheduler.SINGLE_ZSET.label()) || name.equals(Scheduler.ZSET_TUNED.label()),
                    "--against=" + name + " cannot be measured here; single-zset and zset-tuned can");
        }
        series.check(spec);
        // Without forks: they would fall into some phases and not into others.
        RedisSettings setup = LabSession.usualRedis().withDebugCommand().with("auto-aof-rewrite-percentage 0");
        return LabSession.run(spec, series, setup, this::measure);
    }

    private BacklogReport measure(LabSession session) throws IOException, InterruptedException {
        List<Scheduler> schedulers = new ArrayList<>(List.of(Scheduler.MINUTEHAND));
        against.forEach(name -> schedulers.add(Scheduler.named(name)));
        List<BacklogReport.Run> runs = new ArrayList<>();
        for (int run = 1; run <= series.runs; run++) {
            int turn = run;
            for (Scheduler scheduler : schedulers) {
                for (long waiting : pending) {
                    LabSettings settings = load.settings(
                            scheduler, "mhlab" + turn, jobs, (long) (jobs * 1_000 / load.rate) + GAP_MS, nodes, shards);
                    String name = SCENARIO + "-" + waiting + "-" + scheduler.label() + "-" + turn;
                    BacklogReport.Run found = session.once(
                            name,
                            "run " + turn + " " + scheduler.label() + " with " + waiting + " pending",
                            "pending=" + waiting + " spread=" + spreadMinutes + " " + settings,
                            BacklogReport.Run.class,
                            () -> measure(session, name, settings, waiting, turn));
                    session.say(found.line());
                    runs.add(found);
                }
            }
        }
        return BacklogReport.of(Machine.facts(), told(), runs);
    }

    private Map<String, String> told() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("pending", pending + ", due over " + spreadMinutes + " minutes, three hours later");
        settings.put("jobs", Long.toString(jobs));
        load.tell(settings);
        settings.put("nodes", Integer.toString(nodes));
        settings.put("shards", Integer.toString(shards));
        settings.put("runs", Integer.toString(series.runs));
        settings.put("redis", LabSession.REDIS + "; it is not rewritten meanwhile");
        settings.put(
                "Redis time of scheduling a job",
                "time of all scripts while jobs are sent and none is due, by INFO commandstats, without what scripts take when there is nothing to do (idleScriptUsPerSec), divided by the jobs");
        settings.put(
                "Redis time of draining a job",
                "the same while jobs come due and none is sent: popping, acknowledging, and what else the workers call");
        return settings;
    }

    private BacklogReport.Run measure(LabSession session, String name, LabSettings settings, long waiting, int turn)
            throws IOException, InterruptedException {
        double fillSeconds;
        Rehash rehash;
        double dataBytes;
        try (RedisMeter meter = RedisMeter.of(session.redis())) {
            double emptyBytes = meter.dataBytes();
            fillSeconds = fill(session, name, settings, waiting);
            rehash = Rehash.end(meter.servers());
            dataBytes = meter.dataBytes() - emptyBytes;
        }
        BacklogPhases phases = new BacklogPhases();
        try (LabRun run = new LabRun(SCENARIO, settings, session.redis(), 1, session.logs(name), phases)) {
            SystemReport report = run.run();
            return BacklogReport.Run.of(
                    waiting, spreadMinutes, turn, fillSeconds, dataBytes / waiting, rehash, phases, report);
        }
    }

    private double fill(LabSession session, String name, LabSettings settings, long waiting)
            throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        try (PrivateDirectory home = PrivateDirectory.create("fill")) {
            settings.write(home.path());
            LabProcesses processes = new LabProcesses(home, session.redis(), LabSettings.compiler(settings.rate()));
            try {
                processes.addProducer(
                        "fill", "lab-fill", FILL_HEAP_MB, List.of("--jobs=" + waiting, "--minutes=" + spreadMinutes));
                processes.awaitStart();
                processes.await(
                        waiting + " jobs to be stored",
                        LabProcesses.START_LIMIT_MS + waiting * 1_000 / SLOWEST_FILL,
                        () -> processes.producersAre("done") || processes.ofProducers("failed") > 0);
                long stored = processes.ofProducers("stored");
                if (stored < waiting) {
                    throw new IllegalStateException("of " + waiting + " pending jobs only " + stored + " were stored");
                }
                processes.stop();
            } catch (IllegalStateException e) {
                processes.keepLogs(session.logs(name));
                throw e;
            }
        }
        return (System.nanoTime() - beganNs) / 1e9;
    }
}
