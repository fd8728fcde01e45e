package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.check.Finding;
import io.minutehand.loadtest.check.Punctuality;
import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.RunFacts.Kill;
import io.minutehand.loadtest.report.Takeover;
import io.minutehand.router.ScheduleResult.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Compares what was measured with what must hold, and keeps both. For one thread. */
final class Judge {
    /** Enough for two cores that run several rows and the start of JVMs at once; what is stuck until somebody looks takes longer. */
    private static final double SHORT_FORM_SLACK_MS = 6_000;

    private static final String WRONG_IN_REDIS = "wrong in Redis at the end";

    private final Arena arena;
    private final Verdict verdict;
    private final Punctuality punctuality;
    private final EndState end;
    private final Measured measured;
    private final List<Check> checks = new ArrayList<>();

    /**
     * One comparison.
     *
     * @param what was measured
     * @param limit what it must be, in words
     */
    record Check(String what, String limit, String measured, boolean ok) {
        @Override
        public String toString() {
            return what + " = " + measured + " (" + limit + ")";
        }
    }

    /** What the run measured beside ledger and Redis. */
    record Measured(double drainSeconds, long samples, List<String> differences, List<String> problems) {}

    Judge(Arena arena, Verdict verdict, EndState end, Measured measured) {
        this.arena = arena;
        this.verdict = verdict;
        this.punctuality = new Punctuality(verdict);
        this.end = end;
        this.measured = measured;
    }

    Arena arena() {
        return arena;
    }

    Verdict verdict() {
        return verdict;
    }

    Punctuality punctuality() {
        return punctuality;
    }

    EndState end() {
        return end;
    }

    List<Check> checks() {
        return checks;
    }

    List<String> failures() {
        return checks.stream().filter(check -> !check.ok()).map(Check::toString).toList();
    }

    void atMost(String what, double limit, double value) {
        checks.add(new Check(what, "<= " + Figures.plain(limit), Figures.plain(value), value <= limit));
    }

    void atLeast(String what, double limit, double value) {
        checks.add(new Check(what, ">= " + Figures.plain(limit), Figures.plain(value), value >= limit));
    }

    void equal(String what, Object expected, @Nullable Object value) {
        checks.add(new Check(what, "= " + expected, String.valueOf(value), Objects.equals(expected, value)));
    }

    void none(String what, List<String> cases) {
        String some = cases.isEmpty() ? "0" : cases.size() + ", for example " + cases.get(0);
        checks.add(new Check(what, "= 0", some, cases.isEmpty()));
    }

    /** What holds in every row: nothing lost, nothing run that should not, counters and sets agree, backlog gone. */
    void ledger(FaultRow row) {
        for (Finding finding : List.of(Finding.LOST, Finding.UNEXPECTED)) {
            found(finding, 0);
        }
        if (row.keepsTime()) {
            for (Finding finding :
                    List.of(Finding.EARLY, Finding.RUN_AFTER_END, Finding.RUN_AFTER_CANCEL, Finding.DUE_CHANGED)) {
                found(finding, 0);
            }
        }
        equal("unreadable lines of the ledger", 0L, verdict.damagedLines());
        none("problems", measured.problems());
        none("audits that differ, of " + measured.samples(), measured.differences());
        atLeast("audits", 1, measured.samples());
        none(WRONG_IN_REDIS, end.wrong());
        atMost("seconds until the backlog was gone", row.drains().toSeconds(), measured.drainSeconds());
        equal("left at the end", 0L, end.left());
        equal("accepted, by the ledger", arena.load().offered(), verdict.total().accepted());
    }

    /** What the product has counted is what the ledger says. */
    void counters() {
        equal("accepted, by the counters", verdict.total().accepted(), end.accepted());
        equal("done, by the counters", verdict.total().done(), end.done());
        equal("dead, by Redis", verdict.total().dead(), end.dead());
        equal("cancelled, by the counters", verdict.total().cancelled(), end.cancelled());
    }

    private void found(Finding finding, long limit) {
        long count = verdict.count(finding);
        String some = count == 0
                ? "0"
                : count + ", for example " + verdict.examples(finding).get(0);
        checks.add(new Check(finding.words(), "<= " + limit, some, count <= limit));
    }

    /** Duplicates, and the second ends that come of them. */
    void duplicatesAtMost(long limit) {
        found(Finding.DUPLICATE, limit);
        found(Finding.TWO_ENDS, limit);
    }

    /** No more duplicates than jobs were in flight on the nodes that were struck. */
    void duplicatesOfExposedOnly() {
        duplicatesAtMost(arena.exposed());
    }

    /** What a short run has beyond a limit of time: it shares its machine with others, a full run has it alone. */
    double slackMs() {
        return arena.settings().full() ? 0 : SHORT_FORM_SLACK_MS;
    }

    void latenessAtMostMs(double limit) {
        atMost("largest lateness ms", limit + slackMs(), punctuality.all().max());
    }

    /** Each killed node's buckets were drained by others in time, and no job of any bucket waited longer, but for a further death. */
    void takeoverInTime() {
        double limit = arena.settings().takeover().toMillis() + slackMs();
        atMost("longest wait from due time or death ms", limit, Takeover.longestWaitMs(verdict, arena.kills()));
        atMost("take-over ms", limit, takeoverMs() == null ? 0 : takeoverMs());
    }

    /** The longest take-over of all kills; null if none left anything to take. */
    @Nullable
    Double takeoverMs() {
        Double longest = null;
        for (Kill kill : arena.kills()) {
            Double ms = Takeover.ms(verdict, kill);
            if (ms != null && (longest == null || ms > longest)) {
                longest = ms;
            }
        }
        return longest;
    }

    /** Starts of an attempt after the first, of jobs whose handlers never fail. */
    long attemptsRaised() {
        return verdict.firstStarts().stream()
                .filter(start -> start.attempt() > 1 && arena.load().deedOf(start.id()) == Deed.Kind.WORK)
                .count();
    }

    /** Starts whose node had a wall clock that differed from Redis's by more than half an hour. */
    long startedByAWrongClock() {
        return verdict.firstStarts().stream()
                .filter(start -> Math.abs(start.wallUs() - start.startUs()) > 1_800_000_000L)
                .count();
    }

    /** Starts of jobs that had been handed out before within the same attempt. */
    long redelivered() {
        return Stream.of(verdict.firstStarts(), verdict.repeatedStarts())
                .flatMap(List::stream)
                .filter(start -> start.delivery() > 1)
                .count();
    }

    /** The ids of all dead letters. */
    Set<String> deadIds() {
        return end.deadIds();
    }

    /** The sum of a counter over all workers, as each said it last. */
    long counted(String counter) {
        return arena.fleet().workers().stream()
                .mapToLong(worker -> worker.status().count(counter))
                .sum();
    }

    long answers(Status status) {
        return arena.load().answers(status);
    }
}
