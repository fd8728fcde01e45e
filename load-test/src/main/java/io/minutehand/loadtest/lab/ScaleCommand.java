package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisInstance;
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

/** The same load with few and many worker processes, on one Redis and on a Cluster. */
@Command(
        name = "scale",
        description = {
            "Measures the same load with different numbers of worker processes, and of Redis primaries.",
            "Each number of nodes runs on each number of primaries, every time with processes of its own.",
            ""
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no job was lost, early or started twice",
            "1:some job was; the lines FAILED say which",
            "2:the options are wrong",
            "3:a run could not be made"
        })
public final class ScaleCommand implements Callable<Integer> {
    static final String SCENARIO = "scale";

    /** A Cluster on one machine. */
    private static final int MOST_PRIMARIES = 12;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            split = ",",
            description = "Numbers of worker processes (default 1,2,4,6).")
    private List<Integer> nodes = List.of(1, 2, 4, 6);

    @Option(
            names = "--primaries",
            paramLabel = "N",
            split = ",",
            description = {
                "Numbers of Redis primaries (default 1): 1 is a single server, more are a Cluster without replicas that is",
                "started for the run."
            })
    private List<Integer> primaries = List.of(1);

    @Option(names = "--seconds", paramLabel = "S", description = "How long jobs are due (default ${DEFAULT-VALUE}).")
    private double seconds = 30;

    @Option(
            names = "--ahead",
            paramLabel = "MS",
            description = "How long before its due time a job is scheduled (default ${DEFAULT-VALUE}).")
    private long aheadMs = 2_000;

    @Option(names = "--shards", paramLabel = "N", description = "Shards of the topic (default ${DEFAULT-VALUE}).")
    private int shards = 8;

    @Mixin
    private final LoadOptions load = new LoadOptions(2_000);

    @Mixin
    private final SeriesOptions series = new SeriesOptions();

    @Override
    public Integer call() throws Exception {
        load.check(spec);
        LoadOptions.checkJobs(spec, jobs(), "--seconds");
        distinct("--nodes", nodes);
        distinct("--primaries", primaries);
        nodes.forEach(count -> Limits.count(spec, "--nodes", count));
        primaries.forEach(count -> Limits.within(spec, "--primaries", count, 1, MOST_PRIMARIES, ""));
        Limits.within(spec, "--ahead", aheadMs, 1, 3_600_000, " ms");
        Limits.count(spec, "--shards", shards);
        Limits.require(
                spec,
                series.redis == null || primaries.equals(List.of(1)),
                "--primaries starts Clusters of its own and goes without --redis");
        series.check(spec);
        return LabSession.run(spec, series, LabSession.usualRedis(), this::measure);
    }

    private void distinct(String option, List<Integer> values) {
        Limits.require(
                spec,
                !values.isEmpty() && values.stream().distinct().count() == values.size(),
                option + " needs numbers, each once");
    }

    private long jobs() {
        return Math.round(load.rate * seconds);
    }

    private ScaleReport measure(LabSession session) throws IOException, InterruptedException {
        List<ScaleReport.Run> runs = new ArrayList<>();
        for (int run = 1; run <= series.runs; run++) {
            int turn = run;
            for (int servers : primaries) {
                for (int count : nodes) {
                    LabSettings settings =
                            load.settings(Scheduler.MINUTEHAND, "mhlab" + turn, jobs(), aheadMs, count, shards);
                    String name = SCENARIO + "-" + count + "-nodes-" + servers + "-primaries-" + turn;
                    String measuredWith = "primaries=" + servers + " " + settings;
                    runs.add(session.once(
                            name,
                            "run " + turn + " with " + count + " nodes on " + servers + " primaries",
                            measuredWith,
                            ScaleReport.Run.class,
                            () -> new ScaleReport.Run(
                                    servers, turn, measure(session, name, settings, servers), measuredWith)));
                }
            }
        }
        return ScaleReport.of(Machine.facts(), told(), runs);
    }

    private SystemReport measure(LabSession session, String name, LabSettings settings, int servers)
            throws IOException, InterruptedException {
        if (servers == 1) {
            return measure(session, name, settings, session.redis());
        }
        try (RedisCluster cluster = RedisCluster.start(RedisBinary.locate(), servers, 0, LabSession.usualRedis())) {
            return measure(session, name, settings, cluster);
        }
    }

    private SystemReport measure(LabSession session, String name, LabSettings settings, RedisInstance redis)
            throws IOException, InterruptedException {
        try (LabRun run = new LabRun(SCENARIO, settings, redis, 1, session.logs(name), new LabRun.Observer() {})) {
            return run.run();
        }
    }

    private Map<String, String> told() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("jobs", Long.toString(jobs()));
        load.tell(settings);
        settings.put("nodes", nodes.toString());
        settings.put("primaries", primaries.toString());
        settings.put("shards", Integer.toString(shards));
        settings.put("scheduled ahead", aheadMs + " ms");
        settings.put("runs", Integer.toString(series.runs));
        settings.put("redis", LabSession.REDIS);
        return settings;
    }
}
