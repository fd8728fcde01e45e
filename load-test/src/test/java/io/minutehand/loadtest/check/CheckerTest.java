package io.minutehand.loadtest.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Cancel;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.ledger.LedgerWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plants one thing at a time into the files of a run that is otherwise fine, and wants it seen, and nothing else. */
class CheckerTest {
    /** A due time in the middle of a minute, so that no boundary is near. */
    private static final long DUE_US = 1_767_225_630_000_000L;

    private static final long ERROR_US = 50;

    @TempDir
    Path directory;

    private LedgerWriter producer;
    private LedgerWriter node1;
    private LedgerWriter node2;

    @BeforeEach
    void writeARunWithoutFault() throws IOException {
        producer = LedgerWriter.create(directory, "producer");
        node1 = LedgerWriter.create(directory, "node-1");
        node2 = LedgerWriter.create(directory, "node-2");
        node1.append(new NodeEvent("node-1", "ready", "", DUE_US));
        for (int i = 0; i < 1_000; i++) {
            String id = "good:" + i;
            long dueUs = DUE_US + i * 10_000L;
            accepted(id, dueUs);
            run(i % 2 == 0 ? node1 : node2, i % 2 == 0 ? "node-1" : "node-2", id, 1, 1, dueUs, dueUs + 500);
        }
    }

    @AfterEach
    void closeFiles() throws IOException {
        producer.close();
        node1.close();
        node2.close();
    }

    @Test
    void shouldFindNothingInARunWithoutFault() throws IOException {
        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(verdict.total().accepted()).isEqualTo(1_000);
        assertThat(verdict.total().started()).isEqualTo(1_000);
        assertThat(verdict.total().done()).isEqualTo(1_000);
        assertThat(verdict.total().dead()).isZero();
        assertThat(verdict.startsOfNodes()).containsExactly(Map.entry("node-1", 500L), Map.entry("node-2", 500L));
        assertThat(new Punctuality(verdict).all().max()).isEqualTo(0.5);
    }

    @Test
    void shouldSeeALostJobThatNeverStarted() throws IOException {
        accepted("lost:1", DUE_US);

        assertOnly(verdict(), Finding.LOST);
        assertThat(verdict().examples(Finding.LOST)).singleElement().asString().startsWith("lost:1:");
    }

    @Test
    void shouldSeeALostJobWhoseRetriesStopped() throws IOException {
        accepted("lost:1", DUE_US);
        start(node1, "node-1", "lost:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("lost:1", 1, 1, "node-1", Result.FAILED, DUE_US + 600));

        assertOnly(verdict(), Finding.LOST);
    }

    @Test
    void shouldNotCallARefusedOrUnknownJobLost() throws IOException {
        intent("refused:1", DUE_US);
        producer.append(new Outcome("refused:1", Ack.REFUSED, "STORE_FULL", 0, DUE_US));
        intent("unknown:1", DUE_US);
        producer.append(new Outcome("unknown:1", Ack.UNKNOWN, "UNKNOWN", 0, DUE_US));
        intent("killed-producer:1", DUE_US);

        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(verdict.total().refused()).isEqualTo(1);
        assertThat(verdict.total().unknown()).isEqualTo(2);
    }

    @Test
    void shouldCountAJobOfUnknownOutcomeThatRanAsRecovered() throws IOException {
        intent("unknown:1", DUE_US);
        producer.append(new Outcome("unknown:1", Ack.UNKNOWN, "UNKNOWN", 0, DUE_US));
        run(node1, "node-1", "unknown:1", 1, 1, DUE_US, DUE_US + 500);

        assertOnly(verdict());
        assertThat(verdict().recovered()).isEqualTo(1);
    }

    @Test
    void shouldHoldAProducerToItsAcceptanceAfterAnUnknownOutcome() throws IOException {
        intent("repeated:1", DUE_US);
        producer.append(new Outcome("repeated:1", Ack.UNKNOWN, "UNKNOWN", 0, DUE_US));
        producer.append(new Outcome("repeated:1", Ack.ACCEPTED, "EXISTS", DUE_US, DUE_US));
        producer.append(new Outcome("repeated:1", Ack.UNKNOWN, "UNKNOWN", 0, DUE_US));

        assertOnly(verdict(), Finding.LOST);
    }

    @Test
    void shouldSeeAJobThatNobodyOffered() throws IOException {
        run(node1, "node-1", "ghost:1", 1, 1, DUE_US, DUE_US + 500);

        assertOnly(verdict(), Finding.UNEXPECTED);
    }

    @Test
    void shouldSeeARefusedJobThatRan() throws IOException {
        intent("refused:1", DUE_US);
        producer.append(new Outcome("refused:1", Ack.REFUSED, "STORE_FULL", 0, DUE_US));
        run(node1, "node-1", "refused:1", 1, 1, DUE_US, DUE_US + 500);

        assertOnly(verdict(), Finding.UNEXPECTED);
    }

    @Test
    void shouldSeeADuplicateStartOnAnotherNode() throws IOException {
        start(node2, "node-2", "good:0", 1, 2, DUE_US, DUE_US + 9_000_000);

        Verdict verdict = verdict();

        assertOnly(verdict, Finding.DUPLICATE);
        assertThat(verdict.total().started()).isEqualTo(1_001);
        assertThat(verdict.repeatedStarts())
                .singleElement()
                .satisfies(start -> assertThat(start.node()).isEqualTo("node-2"));
        // The repetition came late, but the job had started in time.
        assertThat(new Punctuality(verdict).all().max()).isEqualTo(0.5);
    }

    @Test
    void shouldTakeTheEarlierStartAsTheFirstWhateverFileIsReadFirst() throws IOException {
        accepted("twice:1", DUE_US);
        // node-1 is read before node-2, but ran the job later.
        run(node1, "node-1", "twice:1", 1, 2, DUE_US, DUE_US + 8_000_000);
        start(node2, "node-2", "twice:1", 1, 1, DUE_US, DUE_US + 700);

        Verdict verdict = verdict();

        assertOnly(verdict, Finding.DUPLICATE);
        assertThat(verdict.repeatedStarts())
                .singleElement()
                .satisfies(start -> assertThat(start.node()).isEqualTo("node-1"));
        assertThat(new Punctuality(verdict).all().max()).isEqualTo(0.7);
    }

    @Test
    void shouldNotCallARetryADuplicate() throws IOException {
        accepted("retried:1", DUE_US);
        start(node1, "node-1", "retried:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("retried:1", 1, 1, "node-1", Result.FAILED, DUE_US + 600));
        run(node2, "node-2", "retried:1", 2, 1, DUE_US + 500_600, DUE_US + 501_000);

        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(verdict.total().retried()).isEqualTo(1);
        assertThat(verdict.total().done()).isEqualTo(1_001);
    }

    @Test
    void shouldSeeAnEarlyStart() throws IOException {
        accepted("early:1", DUE_US);
        run(node1, "node-1", "early:1", 1, 1, DUE_US, DUE_US - ERROR_US - 1);

        assertOnly(verdict(), Finding.EARLY);
        assertThat(verdict().examples(Finding.EARLY).get(0)).contains("1 us before it was due");
    }

    @Test
    void shouldNotCallAStartEarlyWithinTheErrorOfTheClock() throws IOException {
        accepted("just:1", DUE_US);
        run(node1, "node-1", "just:1", 1, 1, DUE_US, DUE_US - ERROR_US);

        assertOnly(verdict());
    }

    @Test
    void shouldSeeAStartThatIsEarlyOnlyByThePlanOfItsProducer() throws IOException {
        accepted("early:1", DUE_US);
        run(node1, "node-1", "early:1", 1, 1, DUE_US - 1_000_000, DUE_US - 999_000);

        assertOnly(verdict(), Finding.EARLY, Finding.DUE_CHANGED);
    }

    @Test
    void shouldSeeADueTimeThatWasMoved() throws IOException {
        accepted("moved:1", DUE_US);
        run(node1, "node-1", "moved:1", 1, 1, DUE_US + 1_000_000, DUE_US + 1_000_500);

        assertOnly(verdict(), Finding.DUE_CHANGED);
    }

    @Test
    void shouldMeasureAJobOfThePastAgainstTheTimeThatWasAskedFor() throws IOException {
        // Asked for 3 s too late: it becomes due when it is stored.
        intent("past:1", DUE_US);
        producer.append(new Outcome("past:1", Ack.ACCEPTED, "CREATED", DUE_US, DUE_US + 3_001_000));
        run(node1, "node-1", "past:1", 1, 1, DUE_US + 3_000_000, DUE_US + 3_000_500);

        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(new Punctuality(verdict).all().max()).isEqualTo(3_000.5);
    }

    @Test
    void shouldSeeARetryThatComesSoonerThanItsPolicy() throws IOException {
        accepted("hasty:1", DUE_US);
        start(node1, "node-1", "hasty:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("hasty:1", 1, 1, "node-1", Result.FAILED, DUE_US + 600));
        run(node1, "node-1", "hasty:1", 2, 1, DUE_US + 100_000, DUE_US + 100_500);

        assertOnly(verdict(), Finding.EARLY);
    }

    @Test
    void shouldAllowARetryToBeDueAMillisecondSooner() throws IOException {
        accepted("cut:1", DUE_US);
        start(node1, "node-1", "cut:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("cut:1", 1, 1, "node-1", Result.FAILED, DUE_US + 1_900));
        run(node1, "node-1", "cut:1", 2, 1, DUE_US + 501_000, DUE_US + 501_500);

        assertOnly(verdict());
    }

    @Test
    void shouldMeasureALateStartOfExactlyKnownSize() throws IOException {
        accepted("late:1", DUE_US);
        run(node1, "node-1", "late:1", 1, 1, DUE_US, DUE_US + 7_654_321);

        Verdict verdict = verdict();

        assertOnly(verdict);
        Lateness lateness = new Punctuality(verdict).all();
        assertThat(lateness.max()).isEqualTo(7_654.321);
        assertThat(lateness.p50()).isEqualTo(0.5);
        assertThat(lateness.p99()).isEqualTo(0.5);
        assertThat(lateness.count()).isEqualTo(1_001);
    }

    @Test
    void shouldMeasureARetryAgainstItsOwnDueTime() throws IOException {
        accepted("retried:1", DUE_US);
        start(node1, "node-1", "retried:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("retried:1", 1, 1, "node-1", Result.FAILED, DUE_US + 600));
        run(node1, "node-1", "retried:1", 2, 1, DUE_US + 600_000, DUE_US + 612_000);

        assertThat(new Punctuality(verdict()).all().max()).isEqualTo(12.0);
    }

    @Test
    void shouldSeeTwoEndsOfOneJob() throws IOException {
        node2.append(new End("good:0", 1, 2, "node-2", Result.DONE, DUE_US + 900));

        assertOnly(verdict(), Finding.TWO_ENDS);
        assertThat(verdict().total().done()).isEqualTo(1_000);
    }

    @Test
    void shouldSeeAJobThatIsDoneAndDead() throws IOException {
        node2.append(new Dead("good:0", "orders", 1, "node-2", DUE_US + 900));

        assertOnly(verdict(), Finding.TWO_ENDS);
        assertThat(verdict().total().done()).isEqualTo(1_000);
        assertThat(verdict().total().dead()).isZero();
    }

    @Test
    void shouldSeeARetryAfterTheJobWasDone() throws IOException {
        start(node2, "node-2", "good:0", 2, 1, DUE_US + 600_000, DUE_US + 601_000);

        assertOnly(verdict(), Finding.RUN_AFTER_END);
    }

    @Test
    void shouldCountACancelledJobAsEndedAndSeeAStartAfterIt() throws IOException {
        accepted("cancelled:1", DUE_US);
        producer.append(new Cancel("cancelled:1", Ack.UNKNOWN, "time-out", DUE_US - 9_000));
        producer.append(new Cancel("cancelled:1", Ack.ACCEPTED, "CANCELLED", DUE_US - 1_000));
        Verdict verdict = verdict();
        assertOnly(verdict);
        assertThat(verdict.total().cancelled()).isEqualTo(1);

        start(node2, "node-2", "cancelled:1", 1, 1, DUE_US, DUE_US + 500);

        assertOnly(verdict(), Finding.RUN_AFTER_CANCEL);
    }

    @Test
    void shouldHoldNobodyToACancellationThatWasRefusedOrIsUnknown() throws IOException {
        accepted("running:1", DUE_US);
        producer.append(new Cancel("running:1", Ack.REFUSED, "RUNNING", DUE_US - 1_000));
        run(node1, "node-1", "running:1", 1, 1, DUE_US, DUE_US + 500);
        accepted("doubtful:1", DUE_US);
        producer.append(new Cancel("doubtful:1", Ack.UNKNOWN, "time-out", DUE_US - 1_000));
        run(node1, "node-1", "doubtful:1", 1, 1, DUE_US, DUE_US + 500);

        assertOnly(verdict());
    }

    @Test
    void shouldSeeAJobThatIsDoneAndCancelled() throws IOException {
        accepted("both:1", DUE_US);
        run(node1, "node-1", "both:1", 1, 1, DUE_US, DUE_US + 500);
        producer.append(new Cancel("both:1", Ack.ACCEPTED, "CANCELLED", DUE_US + 9_000));

        assertOnly(verdict(), Finding.TWO_ENDS);
    }

    @Test
    void shouldNotTakeTheRefusalOfALaterCallForThatOfAnEarlierOne() throws IOException {
        producer.append(new Intent("doubtful:1", "orders", DUE_US, DUE_US - 9_000));
        producer.append(new Outcome("doubtful:1", Ack.UNKNOWN, "UNKNOWN", 0, DUE_US - 8_000));
        producer.append(new Outcome("doubtful:1", Ack.REFUSED, "NOT_STORED", 0, DUE_US - 7_000));
        run(node1, "node-1", "doubtful:1", 1, 1, DUE_US, DUE_US + 500);

        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(verdict.recovered()).isEqualTo(1);
    }

    @Test
    void shouldCountDeadJobsAsEnded() throws IOException {
        accepted("dead:1", DUE_US);
        start(node1, "node-1", "dead:1", 1, 1, DUE_US, DUE_US + 500);
        node1.append(new End("dead:1", 1, 1, "node-1", Result.FAILED, DUE_US + 600));
        node1.append(new Dead("dead:1", "orders", 1, "node-1", DUE_US + 700));

        assertOnly(verdict());
        assertThat(verdict().total().dead()).isEqualTo(1);
    }

    @Test
    void shouldIgnoreAndCountATornLastLine() throws IOException {
        accepted("torn:1", DUE_US);
        run(node1, "node-1", "torn:1", 1, 1, DUE_US, DUE_US + 500);
        // A second start whose line was cut by the kill.
        Files.writeString(
                directory.resolve("node-2.ledger"), "S\ttorn:1\torders\t1\t2\tnode-2", StandardOpenOption.APPEND);

        Verdict verdict = verdict();

        assertOnly(verdict);
        assertThat(verdict.tornLines()).isEqualTo(1);
        assertThat(verdict.damagedLines()).isZero();
        assertThat(verdict.total().started()).isEqualTo(1_001);
    }

    @Test
    void shouldKeepTopicsApart() throws IOException {
        producer.append(new Intent("warm:1", "warmup", DUE_US, DUE_US));
        producer.append(new Outcome("warm:1", Ack.ACCEPTED, "CREATED", DUE_US, DUE_US));
        node1.append(new Start("warm:1", "warmup", 1, 1, "node-1", 0, DUE_US, DUE_US + 900_000, ERROR_US, DUE_US));

        Verdict verdict = Checker.check(directory, new Checker.Rules(Set.of("warmup"), Map.of()));

        assertOnly(verdict);
        assertThat(verdict.total().accepted()).isEqualTo(1_000);
        assertThat(verdict.total().started()).isEqualTo(1_000);
        assertThat(new Punctuality(verdict).all().max()).isEqualTo(0.5);
    }

    @Test
    void shouldTellMinuteBoundariesFromTheRest() throws IOException {
        long minuteUs = DUE_US - DUE_US % 60_000_000;
        for (int i = 0; i < 200; i++) {
            // One second before the boundary to one second after it, all 20 ms late.
            long dueUs = minuteUs - 1_000_000 + i * 10_000L;
            accepted("boundary:" + i, dueUs);
            run(node1, "node-1", "boundary:" + i, 1, 1, dueUs, dueUs + 20_000);
        }

        Verdict verdict = verdict();
        Punctuality punctuality = new Punctuality(verdict);

        assertThat(punctuality.atBoundaries().count()).isEqualTo(200);
        assertThat(punctuality.atBoundaries().p99()).isBetween(20.0, 20.1);
        assertThat(punctuality.elsewhere().p99()).isEqualTo(0.5);
        assertThat(punctuality.byMinuteAndNode().get(minuteUs / 60_000_000 - 1))
                .containsOnly(Map.entry("node-1", 100L));
    }

    @Test
    void shouldSelectASpanOfDueTimes() throws IOException {
        Punctuality punctuality = new Punctuality(verdict());

        assertThat(punctuality.dueWithin(DUE_US, DUE_US + 1_000_000).count()).isEqualTo(100);
        assertThat(punctuality.dueWithin(DUE_US - 1_000_000, DUE_US).count()).isZero();
        assertThat(punctuality.lastDueUs()).isEqualTo(DUE_US + 9_990_000);
        assertThat(punctuality.startsPerSecond()).isBetween(100.0, 100.2);
    }

    private Verdict verdict() throws IOException {
        return Checker.check(directory, new Checker.Rules(Set.of(), Map.of("orders", 500_000L)));
    }

    /** Wants each of the findings once, and none of the others. */
    private static void assertOnly(Verdict verdict, Finding... wanted) {
        Set<Finding> set = Set.of(wanted);
        for (Finding finding : Finding.values()) {
            assertThat(verdict.count(finding))
                    .as("%s: %s", finding, verdict.examples(finding))
                    .isEqualTo(set.contains(finding) ? 1 : 0);
        }
        assertThat(verdict.damagedLines()).isZero();
    }

    private void accepted(String id, long dueUs) {
        intent(id, dueUs);
        producer.append(new Outcome(id, Ack.ACCEPTED, "CREATED", dueUs, dueUs - 1_999_000));
    }

    private void intent(String id, long dueUs) {
        producer.append(new Intent(id, "orders", dueUs, dueUs - 2_000_000));
    }

    private static void start(
            LedgerWriter file, String node, String id, int attempt, int delivery, long dueUs, long startUs) {
        file.append(new Start(id, "orders", attempt, delivery, node, 3, dueUs, startUs, ERROR_US, startUs));
    }

    private static void run(
            LedgerWriter file, String node, String id, int attempt, int delivery, long dueUs, long startUs) {
        start(file, node, id, attempt, delivery, dueUs, startUs);
        file.append(new End(id, attempt, delivery, node, Result.DONE, startUs + 100));
    }
}
