package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.check.Checker;
import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord;
import io.minutehand.loadtest.ledger.LedgerTail;
import io.minutehand.loadtest.report.ReportWriter;
import io.minutehand.loadtest.report.RunFacts;
import io.minutehand.loadtest.report.RunReport;
import io.minutehand.redis.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/** One run of one row: set up, break things under load, heal, drain, judge. */
final class FaultRun {
    private static final long LOOK_MS = 50;

    private final FaultRow row;
    private final RunSettings settings;
    private final long seed;
    private final Consumer<Path> beforeJudging;

    FaultRun(FaultRow row, boolean full, long seed) {
        this(row, row.settings(full), seed);
    }

    FaultRun(FaultRow row, RunSettings settings, long seed) {
        this(row, settings, seed, directory -> {});
    }

    /**
     * Plans a run.
     *
     * @param beforeJudging gets the directory with the ledger, when everything in it is written: tests tamper with it
     */
    FaultRun(FaultRow row, RunSettings settings, long seed, Consumer<Path> beforeJudging) {
        this.row = row;
        this.settings = settings;
        this.seed = seed;
        this.beforeJudging = beforeJudging;
    }

    /**
     * Runs it.
     *
     * @throws Exception if the run could not be made, which says nothing about the product; the message says where the
     *     evidence is
     */
    FaultReport run() throws Exception {
        try (Arena arena = Arena.open(settings, seed)) {
            try {
                return run(arena);
            } catch (Exception e) {
                throw new IllegalStateException(
                        "row " + row.number() + " with seed " + seed + " could not be run: " + e.getMessage()
                                + "; ledger and logs are in " + arena.keepEvidence(),
                        e);
            }
        }
    }

    private FaultReport run(Arena arena) throws Exception {
        Instant began = Instant.now();
        arena.launch();
        double cpuBeforeUs = cpuUs(arena);
        long beganNs = System.nanoTime();
        List<String> problems = new ArrayList<>();
        long undrained;
        double drainSeconds;
        Judge.Measured measured;
        try (Sampler sampler = new Sampler(arena.instance().uri(), arena.settings())) {
            sampler.start();
            arena.startLoad();
            row.strike(arena);
            arena.heal();
            long healedNs = System.nanoTime();
            awaitLoad(arena);
            undrained = drain(arena, row.drains());
            // The backlog has its time from the healing, or from the last due time if that is later.
            long dueNs = arena.clock().nanoTimeAt(arena.load().firstDueUs())
                    + arena.settings().lasts().toNanos();
            drainSeconds = Math.max(0, System.nanoTime() - Math.max(healedNs, dueNs)) / 1e9;
            sampler.sample();
            measured = new Judge.Measured(drainSeconds, sampler.taken(), sampler.differences(), problems);
        }
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        double cpuUs = cpuUs(arena) - cpuBeforeUs;
        for (WorkerProcess worker : arena.fleet().endedUnasked()) {
            if (!arena.endsExpected()) {
                problems.add(worker.name() + " ended by itself");
            }
        }
        problems.addAll(arena.fleet().stop());
        writeUnseenDeaths(arena);
        beforeJudging.accept(arena.workDir());
        Verdict verdict = Checker.check(arena.workDir(), Checker.Rules.none());
        EndState end = EndState.read(arena.instance(), arena.settings());
        Judge judge = new Judge(arena, verdict, end, measured);
        judge.ledger(row);
        if (row.keepsCounters()) {
            judge.counters();
        }
        row.judge(judge);
        RunReport report =
                ReportWriter.report(facts(arena, seconds, undrained, cpuUs, problems), verdict, judge.failures());
        Path evidence = report.passed() ? null : arena.keepEvidence();
        return new FaultReport(
                row.number(),
                row.fault(),
                settings.full() ? "full" : "short",
                seed,
                began.toString(),
                row.passLine(),
                judge.takeoverMs(),
                arena.events(),
                judge.checks(),
                evidence == null ? null : evidence.toString(),
                report);
    }

    private static void awaitLoad(Arena arena) throws InterruptedException {
        arena.await(
                "all schedule calls to be accepted",
                arena.settings().schedule().plus(Load.patience()),
                () -> arena.load().isFinished());
        arena.untilLoad(1);
    }

    private static long drain(Arena arena, Duration limit) throws InterruptedException {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        try (RedisProbe probe = arena.probe()) {
            long undrained = probe.undrained();
            while (undrained > 0 && System.nanoTime() - deadlineNs < 0) {
                Thread.sleep(LOOK_MS);
                undrained = probe.undrained();
            }
            return undrained;
        }
    }

    private static double cpuUs(Arena arena) {
        double sumUs = 0;
        for (RedisServer server : arena.primaries()) {
            try (RedisProbe probe = new RedisProbe(server.connect(), Arena.NAMESPACE, List.of(), 0)) {
                sumUs += probe.cpuUs();
            }
        }
        return sumUs;
    }

    /** A worker that was killed between burying a job and writing so: Redis knows the job as dead. */
    private static void writeUnseenDeaths(Arena arena) throws IOException {
        Set<String> open = new TreeSet<>();
        Set<String> ended = new TreeSet<>();
        LedgerTail.readAll(arena.workDir(), entry -> {
            if (entry instanceof LedgerRecord.Intent intent) {
                open.add(intent.id());
            } else if (entry instanceof LedgerRecord.End end && end.result() == LedgerRecord.Result.DONE) {
                ended.add(end.id());
            } else if (entry instanceof LedgerRecord.Dead dead) {
                ended.add(dead.id());
            }
        });
        open.removeAll(ended);
        try (RedisProbe probe = arena.probe()) {
            for (String id : open) {
                if (probe.isDead(RunSettings.TOPIC, id)) {
                    arena.ledger()
                            .append(new LedgerRecord.Dead(
                                    id,
                                    RunSettings.TOPIC,
                                    0,
                                    "redis",
                                    arena.clock().nowUs()));
                }
            }
        }
    }

    private RunFacts facts(Arena arena, double seconds, long undrained, double cpuUs, List<String> problems) {
        RunSettings settings = arena.settings();
        return new RunFacts(
                new RunFacts.Setup(
                        "fault " + row.number(),
                        settings.nodes(),
                        1,
                        settings.shards(),
                        arena.load().offered(),
                        settings.jobs() * 1e9 / settings.schedule().toNanos(),
                        0,
                        arena.instance().version(),
                        arena.instance().kind().label()),
                arena.load().seconds(),
                seconds,
                arena.load().firstDueUs(),
                undrained,
                cpuUs,
                null,
                null,
                arena.kills().isEmpty() ? null : arena.kills().get(0),
                null,
                problems);
    }
}
