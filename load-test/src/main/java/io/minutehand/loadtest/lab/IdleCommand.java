package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.WorkerProcess;
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

/** What a cluster costs that has nothing to do. */
@Command(
        name = "idle",
        description = {
            "Measures what worker processes cost, and how often they call Redis, while there are no jobs.",
            ""
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:it was measured", "2:the options are wrong", "3:a run could not be made"})
public final class IdleCommand implements Callable<Integer> {
    static final String SCENARIO = "idle";

    private static final double LONGEST_S = 86_400;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            split = ",",
            description = "Numbers of worker processes (default 1,3,6).")
    private List<Integer> nodes = List.of(1, 3, 6);

    @Option(names = "--shards", paramLabel = "N", split = ",", description = "Numbers of shards (default 8,64).")
    private List<Integer> shards = List.of(8, 64);

    @Option(names = "--seconds", paramLabel = "S", description = "How long each is watched (default ${DEFAULT-VALUE}).")
    private double seconds = 30;

    @Option(
            names = "--settle",
            paramLabel = "S",
            description = "How long nodes are left alone first, to share what there is (default ${DEFAULT-VALUE}).")
    private double settleSeconds = 10;

    @Mixin
    private final SeriesOptions series = new SeriesOptions();

    @Override
    public Integer call() throws Exception {
        nodes.forEach(count -> Limits.count(spec, "--nodes", count));
        shards.forEach(count -> Limits.count(spec, "--shards", count));
        Limits.require(
                spec,
                seconds > 0 && seconds <= LONGEST_S && settleSeconds >= 0 && settleSeconds <= LONGEST_S,
                "--seconds=" + seconds + " must be above 0, --settle=" + settleSeconds + " 0 or more, a day at most");
        series.check(spec);
        return LabSession.run(spec, series, LabSession.usualRedis(), this::measure);
    }

    private IdleReport measure(LabSession session) throws IOException, InterruptedException {
        List<IdleReport.Row> rows = new ArrayList<>();
        for (int run = 1; run <= series.runs; run++) {
            int turn = run;
            for (int ofTopic : shards) {
                for (int count : nodes) {
                    String name = SCENARIO + "-" + count + "-nodes-" + ofTopic + "-shards-" + turn;
                    IdleReport.Row row = session.once(
                            name,
                            "run " + turn + " with " + count + " nodes, " + ofTopic + " shards",
                            measuredWith(count, ofTopic),
                            IdleReport.Row.class,
                            () -> measure(session, name, count, ofTopic, turn));
                    rows.add(row);
                }
            }
        }
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("nodes", nodes.toString());
        settings.put("shards", shards.toString());
        settings.put("seconds", seconds + ", after " + settleSeconds + " s to settle");
        settings.put("runs", Integer.toString(series.runs));
        settings.put("redis", LabSession.REDIS);
        settings.put("calls", "scripts and pings that the workers send; what scripts call is not counted");
        return IdleReport.of(Machine.facts(), settings, rows);
    }

    private String measuredWith(int count, int ofTopic) {
        return "nodes=" + count + " shards=" + ofTopic + " seconds=" + seconds + " settle=" + settleSeconds;
    }

    private IdleReport.Row measure(LabSession session, String name, int count, int ofTopic, int turn)
            throws IOException, InterruptedException {
        LabSettings settings = new LoadOptions(1).settings(Scheduler.MINUTEHAND, "mhlab" + turn, 0, 0, count, ofTopic);
        try (PrivateDirectory home = PrivateDirectory.create("idle");
                RedisMeter meter = RedisMeter.of(session.redis())) {
            settings.write(home.path());
            LabProcesses processes = new LabProcesses(home, session.redis(), WorkerProcess.Compiler.SOON);
            try {
                for (int i = 0; i < count; i++) {
                    processes.addWorker();
                }
                processes.awaitStart();
                Thread.sleep((long) (settleSeconds * 1_000));
                processes.requireAlive();
                processes.countCosts();
                Map<String, RedisMeter.Cost> before = meter.commands();
                double cpuBeforeUs = meter.cpuUs();
                long beganNs = System.nanoTime();
                Thread.sleep((long) (seconds * 1_000));
                double elapsed = (System.nanoTime() - beganNs) / 1e9;
                double cpuUs = meter.cpuUs() - cpuBeforeUs;
                Map<String, RedisMeter.Cost> after = meter.commands();
                processes.requireAlive();
                IdleReport.Row row = IdleReport.Row.of(
                        count,
                        ofTopic,
                        turn,
                        elapsed,
                        before,
                        after,
                        cpuUs,
                        processes.costs(),
                        measuredWith(count, ofTopic));
                processes.stop();
                return row;
            } catch (IllegalStateException e) {
                processes.keepLogs(session.logs(name));
                throw e;
            }
        }
    }
}
