package io.minutehand.loadtest.report;

import static io.minutehand.loadtest.report.Figures.rounded;

import io.minutehand.loadtest.check.Finding;
import io.minutehand.loadtest.check.Lateness;
import io.minutehand.loadtest.check.Punctuality;
import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.report.RunFacts.Join;
import io.minutehand.loadtest.report.RunFacts.Kill;
import io.minutehand.loadtest.report.RunReport.LatenessMs;
import io.minutehand.loadtest.report.RunReport.MinuteRow;
import io.minutehand.loadtest.report.RunReport.NodeRow;
import io.minutehand.loadtest.report.RunReport.TopicRow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes the report of a run out of its facts and the verdict of its ledger, and says whether the run passed. */
public final class ReportWriter {
    private static final long SECOND_US = 1_000_000L;
    private static final long MINUTE_US = 60 * SECOND_US;

    /** The span before and after a fault whose lateness is compared: what a take-over may take. */
    private static final long FAULT_SPAN_US = 8 * SECOND_US;

    /** How long after a join the first minute begins that must be shared: claims are made ahead. */
    private static final long JOIN_SETTLES_US = 10 * SECOND_US;

    private final RunFacts facts;
    private final Verdict verdict;
    private final Punctuality punctuality;

    private ReportWriter(RunFacts facts, Verdict verdict) {
        this.facts = facts;
        this.verdict = verdict;
        this.punctuality = new Punctuality(verdict);
    }

    /** Returns the report of a run that is judged by the rules of the demo. */
    public static RunReport report(RunFacts facts, Verdict verdict) {
        ReportWriter writer = new ReportWriter(facts, verdict);
        return writer.report(writer.failures());
    }

    /**
     * Returns the report of a run that was judged by its own rules.
     *
     * @param failures what it did not keep; none if it passed
     */
    public static RunReport report(RunFacts facts, Verdict verdict, List<String> failures) {
        return new ReportWriter(facts, verdict).report(failures);
    }

    private RunReport report(List<String> failures) {
        RunFacts.Setup setup = facts.setup();
        Verdict.Counts total = verdict.total();
        Double redisCpuUs = facts.redisCpuUs();
        return new RunReport(
                new RunFigures(
                        setup.scenario(),
                        setup.nodes(),
                        setup.topics(),
                        setup.shards(),
                        setup.jobs(),
                        setup.rate(),
                        setup.redisVersion(),
                        setup.redisSource(),
                        total.accepted(),
                        rounded(perSecond(total.accepted(), facts.scheduledSeconds())),
                        total.started(),
                        total.done(),
                        total.dead(),
                        verdict.count(Finding.LOST),
                        verdict.count(Finding.DUPLICATE),
                        verdict.count(Finding.EARLY),
                        LatenessMs.of(punctuality.all()),
                        boundary(),
                        fault(),
                        rounded(punctuality.startsPerSecond()),
                        redisCpuUs == null ? null : (Double) rounded(redisCpuUs / Math.max(1, setup.jobs())),
                        facts.bytesPerPendingJob() == null ? null : (Double) rounded(facts.bytesPerPendingJob()),
                        setup.warmupJobs(),
                        rounded(facts.seconds())),
                others(total),
                added(),
                facts.keys(),
                topics(),
                nodes(),
                minutes(),
                failures.isEmpty(),
                List.copyOf(failures));
    }

    private List<String> failures() {
        List<String> failures = new ArrayList<>(facts.problems());
        Kill kill = facts.kill();
        for (Finding finding : Finding.values()) {
            long count = verdict.count(finding);
            if (count > 0 && !(kill != null && isOfAKill(finding))) {
                failures.add(count + " " + finding.words() + ", for example "
                        + verdict.examples(finding).get(0));
            }
        }
        if (kill != null) {
            // A handler that was cut off runs again elsewhere: once for each job that the node had, no more.
            long repeated = Math.max(verdict.count(Finding.DUPLICATE), verdict.count(Finding.TWO_ENDS));
            if (repeated > kill.inFlight()) {
                failures.add(repeated + " duplicates, but " + kill.node() + " had only " + kill.inFlight()
                        + " jobs in flight when it was killed");
            }
        }
        Verdict.Counts total = verdict.total();
        if (total.accepted() < facts.setup().jobs()) {
            failures.add("of " + facts.setup().jobs() + " jobs only " + total.accepted() + " were accepted: "
                    + total.refused() + " refused, " + total.unknown() + " of unknown outcome");
        }
        if (facts.undrained() > 0) {
            failures.add(facts.undrained() + " jobs were still pending or in flight in Redis at the end");
        }
        if (verdict.damagedLines() > 0) {
            failures.add(verdict.damagedLines() + " lines of the ledger could not be read");
        }
        return failures;
    }

    private static boolean isOfAKill(Finding finding) {
        return finding == Finding.DUPLICATE || finding == Finding.TWO_ENDS;
    }

    private RunReport.Boundary boundary() {
        Lateness near = punctuality.atBoundaries();
        Lateness elsewhere = punctuality.elsewhere();
        return new RunReport.Boundary(
                near.count() == 0 ? null : (Double) near.p99(),
                elsewhere.count() == 0 ? null : (Double) elsewhere.p99(),
                near.count());
    }

    private RunReport.@Nullable Fault fault() {
        Kill kill = facts.kill();
        if (kill == null) {
            return null;
        }
        long endUs = punctuality.lastDueUs() + 1;
        return new RunReport.Fault(
                kill.node(),
                sinceFirstDue(kill.atUs()),
                kill.inFlight(),
                kill.held().size(),
                Takeover.ms(verdict, kill),
                verdict.count(Finding.DUPLICATE),
                punctuality.dueWithin(kill.atUs(), Long.MAX_VALUE).max(),
                punctuality.dueWithin(kill.atUs() - FAULT_SPAN_US, kill.atUs()).p99(),
                punctuality.dueWithin(endUs - FAULT_SPAN_US, endUs).p99());
    }

    private RunReport.Others others(Verdict.Counts total) {
        return new RunReport.Others(
                total.refused(),
                total.unknown(),
                verdict.recovered(),
                verdict.count(Finding.UNEXPECTED),
                total.retried(),
                verdict.count(Finding.TWO_ENDS),
                verdict.count(Finding.RUN_AFTER_END),
                verdict.count(Finding.DUE_CHANGED),
                facts.undrained(),
                verdict.tornLines(),
                verdict.damagedLines());
    }

    private RunReport.@Nullable Added added() {
        Join join = facts.join();
        if (join == null) {
            return null;
        }
        long settledUs = join.readyUs() + JOIN_SETTLES_US;
        long minute = Math.floorDiv(settledUs + MINUTE_US - 1, MINUTE_US);
        long all = 0;
        long own = 0;
        long assigned = 0;
        for (Start start : verdict.firstStarts()) {
            if (start.dueUs() / MINUTE_US < minute) {
                continue;
            }
            all++;
            own += start.node().equals(join.node()) ? 1 : 0;
            assigned += join.shards().getOrDefault(start.topic(), Set.of()).contains(start.shard()) ? 1 : 0;
        }
        return new RunReport.Added(
                join.node(),
                sinceFirstDue(join.readyUs()),
                all == 0 ? null : (Long) minute,
                all == 0 ? null : (Double) ((double) own / all),
                all == 0 || join.shards().isEmpty() ? null : (Double) ((double) assigned / all),
                punctuality.dueWithin(join.readyUs(), Long.MAX_VALUE).max(),
                punctuality
                        .dueWithin(join.readyUs() - FAULT_SPAN_US, join.readyUs())
                        .p99(),
                punctuality
                        .dueWithin(join.readyUs(), join.readyUs() + FAULT_SPAN_US)
                        .p99());
    }

    private List<TopicRow> topics() {
        List<TopicRow> rows = new ArrayList<>();
        verdict.topics()
                .forEach((topic, counts) -> rows.add(new TopicRow(
                        topic,
                        counts.accepted(),
                        counts.started(),
                        counts.retried(),
                        counts.done(),
                        counts.dead(),
                        LatenessMs.of(punctuality.of(start -> start.topic().equals(topic))))));
        return rows;
    }

    private List<NodeRow> nodes() {
        List<NodeRow> rows = new ArrayList<>();
        double all = Math.max(1, verdict.total().started());
        verdict.startsOfNodes()
                .forEach((node, starts) -> rows.add(new NodeRow(
                        node,
                        starts,
                        Math.round(starts / all * 1e4) / 1e4,
                        LatenessMs.of(punctuality.of(start -> start.node().equals(node))))));
        return rows;
    }

    private List<MinuteRow> minutes() {
        List<MinuteRow> rows = new ArrayList<>();
        punctuality
                .byMinuteAndNode()
                .forEach((minute, nodes) -> rows.add(new MinuteRow(
                        Instant.ofEpochSecond(minute * 60).toString(),
                        nodes.values().stream().mapToLong(Long::longValue).sum(),
                        nodes)));
        return rows;
    }

    private double sinceFirstDue(long us) {
        return rounded((us - facts.firstDueUs()) / 1e6);
    }

    private static double perSecond(long count, double seconds) {
        return seconds <= 0 ? 0 : count / seconds;
    }
}
