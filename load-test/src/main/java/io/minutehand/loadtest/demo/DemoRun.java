package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.check.Checker;
import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerTail;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.ReportText;
import io.minutehand.loadtest.report.ReportWriter;
import io.minutehand.loadtest.report.RunFacts;
import io.minutehand.loadtest.report.RunReport;
import io.minutehand.loadtest.report.RunReport.Keys;
import io.minutehand.redis.RedisGoneException;
import io.minutehand.redis.RedisSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One run of the demo, phase by phase: set up, warm up, measure, drain, judge. One thread does it all, ten times a
 * second: it reads the ledger files, shows how things are, and does to the nodes what is due.
 */
final class DemoRun implements AutoCloseable {
    private static final long TICK_MS = 100;

    /** Warm-up jobs due in a second: all of them take two seconds. */
    private static final int WARMUP_RATE = 250;

    private static final long WARMUP_LIMIT_NS = 60_000_000_000L;

    /** Without any job ending for so long after the last due time the run is given up: what is left is lost. */
    private static final long STANDSTILL_NS = 60_000_000_000L;

    /** Without any job ending for so long after the last due time Redis is asked whether it still holds one. */
    private static final long UNSEEN_NS = 3_000_000_000L;

    /** Until Redis holds no job of the run any more: longer than the visibility, so that a lost ack is seen to heal. */
    private static final long DRAIN_LIMIT_NS = 45_000_000_000L;

    /** Heap of a worker: what it needs with a wide margin, so that twelve nodes fit on a laptop. */
    private static final int WORKER_HEAP_MB = 192;

    private static final double KEYS_EVERY_SECONDS = 10;

    private final DemoOptions options;
    private final View view;
    private final Thread hook = new Thread(this::interrupted, "demo-end");
    private final List<String> events = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final Progress progress;
    private final Stage stage;
    private final LedgerTail tail;
    private final Fleet fleet;
    private final Producer producer;
    private final NodeChanges changes;

    private volatile boolean interrupted;
    private Snapshot.Phase phase = Snapshot.Phase.STARTING;
    private long firstDueUs;
    private @Nullable Double bytesPerPendingJob;
    private @Nullable Keys keys;
    private double nextKeysAt;
    private long endedSeen;
    private long endedChangedNs;

    DemoRun(DemoOptions options, View view) throws IOException {
        this.options = options;
        this.view = view;
        this.progress =
                new Progress(options.topics().stream().map(DemoTopic::topic).toList());
        this.stage = Stage.set(options);
        try {
            this.producer = Producer.connect(stage, options);
        } catch (RuntimeException e) {
            stage.close();
            throw e;
        }
        this.tail = new LedgerTail(stage.workDir());
        this.fleet = new Fleet(
                stage.home(),
                stage.workDir(),
                new WorkerProcess.Kind(
                        "demo-worker",
                        WORKER_HEAP_MB,
                        WorkerProcess.Compiler.SOON,
                        this::workerArguments,
                        name -> Map.of(
                                RedisSource.ADDRESS_VARIABLE, stage.redis().uri())));
        this.changes = new NodeChanges(options, stage, fleet, this::event);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Runs the demo. Returns the exit status.
     *
     * @throws IllegalStateException when it cannot go on; the message says why, and where ledger and logs are
     */
    int run() throws IOException, InterruptedException, InvalidRunException {
        long beganNs = System.nanoTime();
        try {
            return runPhases();
        } catch (RedisGoneException e) {
            awaitEndIfInterrupted();
            stage.redisIsGone();
            producer.abandon();
            String lasting = stage.deletesKeys()
                    ? "; if it comes back, its keys " + stage.namespace() + ":* are to be deleted by hand"
                    : "";
            throw new IllegalStateException(
                    String.format(
                            Locale.ROOT,
                            "Redis has gone away after %.1f s (%s: %s); %s%s",
                            (System.nanoTime() - beganNs) / 1e9,
                            stage.redis().describe(),
                            e.getMessage(),
                            evidence(),
                            lasting),
                    e);
        } catch (IllegalStateException | UncheckedIOException e) {
            awaitEndIfInterrupted();
            throw new IllegalStateException(e.getMessage() + "; " + evidence(), e);
        }
    }

    private int runPhases() throws IOException, InterruptedException, InvalidRunException {
        view.say("Redis: " + stage.redis().describe());
        launch();
        warmUp();
        double cpuBeforeUs = stage.probe().cpuUs();
        long beganNs = System.nanoTime();
        measure();
        double seconds = (System.nanoTime() - beganNs) / 1e9;
        double cpuUs = stage.probe().cpuUs() - cpuBeforeUs;
        long undrained = drain();
        return conclude(new RunFacts(
                setup(),
                producer.seconds(),
                seconds,
                firstDueUs,
                undrained,
                cpuUs,
                bytesPerPendingJob,
                keys,
                changes.kill(),
                changes.join(),
                List.of()));
    }

    private void launch() throws InterruptedException, IOException {
        for (int i = 0; i < options.nodes(); i++) {
            fleet.add();
        }
        long beganNs = System.nanoTime();
        while (fleet.ready().size() < options.nodes()) {
            tick();
            fleet.requireAllStarting(System.nanoTime() - beganNs);
        }
        for (WorkerProcess worker : fleet.workers()) {
            stage.ledger()
                    .append(new NodeEvent(
                            worker.name(),
                            "ready",
                            "id " + worker.nodeId(),
                            stage.clock().nowUs()));
        }
    }

    private void warmUp() throws IOException, InterruptedException {
        phase = Snapshot.Phase.WARMING_UP;
        producer.warmUp(DemoOptions.WARMUP_JOBS, WARMUP_RATE);
        long beganNs = System.nanoTime();
        while (progress.warmupEnded() < DemoOptions.WARMUP_JOBS) {
            tick();
            requireWorkers();
            if (System.nanoTime() - beganNs > WARMUP_LIMIT_NS) {
                throw new IllegalStateException("of " + DemoOptions.WARMUP_JOBS + " warm-up jobs only "
                        + progress.warmupEnded() + " ended within " + WARMUP_LIMIT_NS / 1_000_000_000 + " s");
            }
        }
    }

    private void measure() throws IOException, InterruptedException, InvalidRunException {
        phase = Snapshot.Phase.RUNNING;
        Plan plan = new Plan(options.jobs(), options.rate(), (long) (options.aheadSeconds() * 1e6), options.topics());
        firstDueUs = producer.start(plan);
        endedChangedNs = System.nanoTime();
        boolean complete = false;
        while (!complete) {
            boolean allAnswered = producer.isFinished();
            tick();
            requireWorkers();
            lookAtKeys();
            changes.runOnce(seconds());
            complete = allAnswered && (progress.ended() >= progress.total().accepted() || isDrainedUnseen());
            if (!complete && standsStill(STANDSTILL_NS)) {
                problems.add("no job ended for " + STANDSTILL_NS / 1_000_000_000 + " s; the run was given up");
                complete = true;
            }
        }
        changes.requireDone();
    }

    /**
     * Returns whether nothing is left to wait for although the ledger does not tell of all ends: a job is lost, or its
     * worker was killed between burying it and writing so.
     */
    private boolean isDrainedUnseen() {
        return standsStill(UNSEEN_NS) && stage.probe().undrained() == 0;
    }

    private boolean standsStill(long limitNs) {
        if (progress.ended() != endedSeen || seconds() < options.dueSeconds()) {
            endedSeen = progress.ended();
            endedChangedNs = System.nanoTime();
        }
        return System.nanoTime() - endedChangedNs > limitNs;
    }

    private void lookAtKeys() {
        double now = seconds();
        if (bytesPerPendingJob == null && now >= -0.5) {
            bytesPerPendingJob = stage.probe().bytesPerPendingJob();
        }
        if (now >= nextKeysAt) {
            nextKeysAt = now + KEYS_EVERY_SECONDS;
            Keys seen = stage.probe().keys();
            if (seen != null && (keys == null || seen.largestBucket() > keys.largestBucket())) {
                keys = seen;
            }
        }
    }

    private long drain() throws IOException, InterruptedException {
        phase = Snapshot.Phase.DRAINING;
        long beganNs = System.nanoTime();
        long undrained = stage.probe().undrained();
        while (undrained > 0 && System.nanoTime() - beganNs < DRAIN_LIMIT_NS) {
            tick();
            undrained = stage.probe().undrained();
        }
        return undrained;
    }

    private int conclude(RunFacts facts) throws IOException, InterruptedException {
        phase = Snapshot.Phase.STOPPING;
        tick();
        writeUnseenDeaths();
        producer.close();
        problems.addAll(fleet.stop());
        tick();
        checkOrders();
        Verdict verdict = Checker.check(stage.workDir(), rules());
        RunReport report = ReportWriter.report(facts.with(problems), verdict);
        view.end();
        view.say("");
        ReportText.lines(report).forEach(view::say);
        if (options.json() != null) {
            writeReport(report, options.json());
        }
        if (!report.passed()) {
            view.say(evidence());
        } else if (options.workDir() != null) {
            view.say("ledger and logs are in " + stage.workDir());
        }
        return report.exitStatus();
    }

    private void writeReport(RunReport report, Path file) {
        try {
            report.write(file);
        } catch (IOException e) {
            throw new IllegalStateException("the report could not be written to " + file + ": " + e, e);
        }
        view.say("report written to " + file);
    }

    /** A worker that was killed between burying a job and writing so: Redis knows the job as dead. */
    private void writeUnseenDeaths() {
        progress.open().forEach((id, topic) -> {
            if (stage.probe().isDead(topic, id)) {
                stage.ledger()
                        .append(new Dead(id, topic, 0, "redis", stage.clock().nowUs()));
            }
        });
    }

    /** The business side: no order may be left waiting, whatever the scheduler's ledger says. */
    private void checkOrders() {
        int waiting = stage.orders().count(OrderTable.Status.WAIT_PAY);
        if (waiting > 0) {
            problems.add(waiting + " unpaid orders were not closed");
        } else if (options.topics().contains(DemoTopic.CLOSE_ORDER)) {
            view.say("orders: " + Figures.count(stage.orders().count(OrderTable.Status.CLOSED)) + " unpaid and closed, "
                    + Figures.count(stage.orders().count(OrderTable.Status.PAID)) + " paid in time and left alone");
        }
    }

    private static Checker.Rules rules() {
        return new Checker.Rules(
                Set.of(DemoTopic.WARMUP),
                Map.of(DemoTopic.CALL_WEBHOOK.topic(), DemoTopic.WEBHOOK_RETRY_DELAY.toNanos() / 1_000));
    }

    private String evidence() {
        try {
            return "ledger and logs are kept in " + stage.keepEvidence();
        } catch (IOException e) {
            return "ledger and logs could not be kept: " + e;
        }
    }

    private void requireWorkers() {
        for (WorkerProcess worker : fleet.endedUnasked()) {
            problems.add(worker.name() + " ended by itself");
            event(worker.name() + " ended by itself");
        }
        if (fleet.workers().stream().noneMatch(WorkerProcess::isAlive)) {
            throw new IllegalStateException("all workers have ended");
        }
    }

    private void event(String what) {
        events.add(String.format(Locale.ROOT, "%6.1f s  %s", seconds(), what));
    }

    private double seconds() {
        return firstDueUs == 0 ? -1 : (stage.clock().nowUs() - firstDueUs) / 1e6;
    }

    private void tick() throws IOException, InterruptedException {
        stage.requireRedis();
        tail.poll(progress::accept);
        view.show(new Snapshot(
                stage.redis().describe(), headline(), phase, seconds(), options.jobs(), progress, nodes(), events));
        Thread.sleep(TICK_MS);
    }

    private List<Snapshot.Node> nodes() {
        return fleet.workers().stream()
                .map(worker -> new Snapshot.Node(worker.name(), worker.pid(), fleet.state(worker), worker.status()))
                .toList();
    }

    private String headline() {
        return String.format(
                Locale.ROOT,
                "%d nodes, %d topics x %d shards, %,d jobs at %s/s",
                options.nodes(),
                options.topics().size(),
                options.shards(),
                options.jobs(),
                Figures.plain(options.rate()));
    }

    private RunFacts.Setup setup() {
        return new RunFacts.Setup(
                "demo",
                options.nodes(),
                options.topics().size(),
                options.shards(),
                options.jobs(),
                options.rate(),
                DemoOptions.WARMUP_JOBS,
                stage.redis().version(),
                stage.redis().kind().label());
    }

    private List<String> workerArguments(String name) {
        return List.of(
                "--name",
                name,
                "--namespace",
                stage.namespace(),
                "--shards",
                Integer.toString(options.shards()),
                "--topics",
                String.join(",", stage.topics()),
                "--work-dir",
                stage.workDir().toString());
    }

    /** Ctrl-C or SIGTERM: nothing that was started may stay behind, and nobody waits for a verdict. */
    private void interrupted() {
        interrupted = true;
        view.end();
        stage.abandon();
        view.say("interrupted; what the demo had started is gone");
    }

    /** What breaks after that does so because it is being ended: no news, and nothing to keep evidence of. */
    private void awaitEndIfInterrupted() throws InterruptedException {
        if (interrupted) {
            Thread.currentThread().join();
        }
    }

    @Override
    public void close() throws IOException {
        view.end();
        producer.close();
        stage.close();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The process is ending already, and the hook does the same as this.
        }
    }
}
