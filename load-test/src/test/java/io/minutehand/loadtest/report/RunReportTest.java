package io.minutehand.loadtest.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.check.Checker;
import io.minutehand.loadtest.check.Verdict;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.report.RunFacts.Bucket;
import io.minutehand.loadtest.report.RunFacts.Join;
import io.minutehand.loadtest.report.RunFacts.Kill;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunReportTest {
    /** 20 s before the end of a minute. */
    private static final long FIRST_DUE_US = 1_767_225_640_000_000L;

    private static final long SECOND_US = 1_000_000;
    private static final long MINUTE = FIRST_DUE_US / 60_000_000;

    private final Checker checker = new Checker(Checker.Rules.none());
    private int jobs;

    @TempDir
    Path directory;

    @Test
    void shouldHaveTheKeysOfTheContractInTheirOrder() throws IOException {
        steady(0, 100);

        JsonNode json = new ObjectMapper().readTree(report(null, null).json());

        assertThat(names(json))
                .startsWith(
                        "scenario",
                        "nodes",
                        "topics",
                        "shards",
                        "jobs",
                        "rate",
                        "redisVersion",
                        "redisSource",
                        "scheduled",
                        "scheduledPerSec",
                        "started",
                        "done",
                        "dead",
                        "lost",
                        "duplicates",
                        "early",
                        "latenessMs",
                        "boundary",
                        "fault",
                        "dispatchedPerSec",
                        "redisCpuUsPerJob",
                        "bytesPerPendingJob",
                        "warmupJobs",
                        "seconds")
                .contains("perNode", "perTopic", "perMinute", "passed", "failures")
                .doesNotContain("exitStatus");
        assertThat(names(json.get("latenessMs"))).containsExactly("p50", "p90", "p99", "p999", "p9999", "max");
        assertThat(names(json.get("boundary"))).startsWith("p99", "elsewhereP99");
        assertThat(json.get("fault").isNull()).isTrue();
    }

    @Test
    void shouldHaveTheKeysOfAFault() throws IOException {
        steady(0, 3_000);

        JsonNode json = new ObjectMapper().readTree(report(kill(10, 5), null).json());

        assertThat(names(json.get("fault"))).startsWith("node", "at", "inFlight", "bucketsHeld", "takeoverMs");
    }

    @Test
    void shouldReckonTheWaitOfAJobFromTheLastDeathOfAHolder() {
        job("job:1", "node-1", due(1), 11 * SECOND_US);
        job("job:2", "node-1", due(2), 3 * SECOND_US);
        Verdict verdict = checker.verdict(0, 0);

        assertThat(Takeover.longestWaitMs(verdict, List.of())).isEqualTo(11_000);
        assertThat(Takeover.longestWaitMs(verdict, List.of(kill(0, 1), kill(5, 1))))
                .as("shard 1 was node-2's, twice")
                .isEqualTo(6_010);
        assertThat(Takeover.longestWaitMs(verdict, List.of(kill(20, 1))))
                .as("a death after it ran")
                .isEqualTo(11_000);
    }

    @Test
    void shouldPassARunWithoutFindings() {
        steady(0, 3_000);

        RunReport report = report(null, null);

        assertThat(report.failures()).isEmpty();
        assertThat(report.exitStatus()).isZero();
        assertThat(report.figures().scheduled()).isEqualTo(3_000);
        assertThat(report.figures().scheduledPerSec()).isEqualTo(100);
        assertThat(report.figures().dispatchedPerSec()).isBetween(100.0, 100.1);
        assertThat(report.figures().redisCpuUsPerJob()).isEqualTo(20);
        assertThat(report.figures().latenessMs().max()).isEqualTo(1);
        assertThat(report.figures().boundary().p99()).isEqualTo(1);
        assertThat(report.figures().boundary().starts()).isEqualTo(200);
        assertThat(report.perMinute()).hasSize(2);
        assertThat(report.perMinute().get(0).minute()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(report.perMinute().get(0).nodes()).containsOnlyKeys("node-1", "node-2");
    }

    @Test
    void shouldFailOnALostJob() {
        steady(0, 100);
        offer("lost", FIRST_DUE_US);

        assertFailure(report(null, null), "1 lost");
    }

    @Test
    void shouldFailOnADuplicateWithoutAFault() {
        steady(0, 100);
        start("job:1", "node-2", 2, due(1), due(1) + SECOND_US);

        assertFailure(report(null, null), "1 duplicate");
    }

    @Test
    void shouldFailOnAnEarlyStart() {
        steady(0, 100);
        job("early", "node-1", FIRST_DUE_US, -5_000);

        assertFailure(report(null, null), "1 early");
    }

    @Test
    void shouldFailOnRefusedJobsUndrainedJobsDamageAndProblems() {
        steady(0, 100);
        checker.accept(new Intent("refused", "orders", FIRST_DUE_US, 0));
        checker.accept(new Outcome("refused", Ack.REFUSED, "STORE_FULL", 0, 0));
        jobs++;
        RunFacts facts = facts(null, null, 3).with(List.of("node-3 ended by itself"));

        RunReport report = ReportWriter.report(facts, checker.verdict(0, 2));

        assertThat(report.exitStatus()).isEqualTo(1);
        assertThat(report.failures())
                .hasSize(4)
                .anyMatch(failure -> failure.contains("only 100 were accepted: 1 refused"))
                .anyMatch(failure -> failure.contains("3 jobs were still pending"))
                .anyMatch(failure -> failure.contains("2 lines of the ledger"))
                .anyMatch(failure -> failure.contains("node-3 ended by itself"));
    }

    @Test
    void shouldAllowAsManyDuplicatesAsTheKilledNodeHadInFlight() {
        steady(0, 3_000);
        start("job:999", "node-1", 2, due(999), due(999) + 6 * SECOND_US);
        start("job:997", "node-1", 2, due(997), due(997) + 6 * SECOND_US);

        assertThat(report(kill(10, 2), null).exitStatus()).isZero();
        assertFailure(report(kill(10, 1), null), "2 duplicates, but node-2 had only 1 jobs in flight");
    }

    @Test
    void shouldStillFailOnALostJobAfterAKill() {
        steady(0, 3_000);
        offer("lost", FIRST_DUE_US);

        assertFailure(report(kill(10, 2), null), "1 lost");
    }

    @Test
    void shouldMeasureTheTakeOver() {
        // node-2 held shard 1; its jobs wait 6 s after the kill at 10 s, all others are on time.
        for (int i = 0; i < 3_000; i++) {
            boolean orphan = i % 2 == 1 && i >= 1_000 && i < 1_600;
            job(
                    "job:" + i,
                    i % 2 == 1 && i < 1_000 ? "node-2" : "node-1",
                    due(i),
                    orphan ? due(1_600) - due(i) : 1_000);
        }

        RunReport.Fault fault = report(kill(10, 5), null).figures().fault();

        assertThat(fault).isNotNull();
        assertThat(fault.node()).isEqualTo("node-2");
        assertThat(fault.at()).isEqualTo(10);
        assertThat(fault.inFlight()).isEqualTo(5);
        assertThat(fault.bucketsHeld()).isEqualTo(1);
        assertThat(fault.takeoverMs()).isEqualTo(6_000);
        assertThat(fault.dueAfterMaxMs()).isEqualTo(5_990);
        assertThat(fault.before8sP99()).isEqualTo(1);
        assertThat(fault.last8sP99()).isEqualTo(1);
    }

    @Test
    void shouldCompareTheShareOfAnAddedNodeWithItsAssignment() {
        // Two minutes and 20 s; node-3 joins 5 s in and takes over shard 0 from the next minute on.
        for (int i = 0; i < 14_000; i++) {
            boolean moved = due(i) / 60_000_000 > MINUTE;
            job("job:" + i, i % 2 == 0 && moved ? "node-3" : i % 2 == 0 ? "node-1" : "node-2", due(i), 1_000);
        }
        Join join = new Join("node-3", FIRST_DUE_US + 5 * SECOND_US, Map.of("orders", Set.of(0)));

        RunReport.Added added = report(null, join).added();

        assertThat(added).isNotNull();
        assertThat(added.minute()).isEqualTo(MINUTE + 1);
        assertThat(added.share()).isEqualTo(0.5);
        assertThat(added.assignedShare()).isEqualTo(0.5);
        assertThat(added.dueAfterMaxMs()).isEqualTo(1);
    }

    @Test
    void shouldWriteTheFileAndMissingDirectories() throws IOException {
        steady(0, 10);
        Path file = directory.resolve("a/b/report.json");

        report(null, null).write(file);

        assertThat(new ObjectMapper()
                        .readTree(Files.readString(file))
                        .get("scenario")
                        .asText())
                .isEqualTo("demo");
    }

    @Test
    void shouldBeReadableAsText() {
        steady(0, 3_000);
        Join join = new Join("node-3", FIRST_DUE_US + 5 * SECOND_US, Map.of());

        List<String> lines = ReportText.lines(report(kill(10, 5), join));

        assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
        assertThat(String.join("\n", lines))
                .contains(
                        "orders",
                        "node-1",
                        "node-2 was killed after 10.0 s",
                        "node-3 joined after 5.0 s",
                        "minute boundary")
                .contains("PASSED: of 3,000 jobs lost 0, run twice 0, early 0");
    }

    private void steady(int from, int to) {
        for (int i = from; i < to; i++) {
            job("job:" + i, i % 2 == 0 ? "node-1" : "node-2", due(i), 1_000);
        }
    }

    private static long due(int number) {
        return FIRST_DUE_US + number * 10_000L;
    }

    private void job(String id, String node, long dueUs, long lateUs) {
        offer(id, dueUs);
        start(id, node, 1, dueUs, dueUs + lateUs);
        checker.accept(new End(id, 1, 1, node, Result.DONE, dueUs + lateUs + 10));
    }

    private void offer(String id, long dueUs) {
        jobs++;
        checker.accept(new Intent(id, "orders", dueUs, 0));
        checker.accept(new Outcome(id, Ack.ACCEPTED, "CREATED", dueUs, 0));
    }

    /** Odd jobs are in shard 1, even ones in shard 0. */
    private void start(String id, String node, int delivery, long dueUs, long startUs) {
        int shard = (int) (dueUs / 10_000 % 2);
        checker.accept(new Start(id, "orders", 1, delivery, node, shard, dueUs, startUs, 10, 0));
    }

    private static Kill kill(int atSecond, int inFlight) {
        return new Kill(
                "node-2", FIRST_DUE_US + atSecond * SECOND_US, inFlight, Set.of(new Bucket("orders", 1, MINUTE)));
    }

    private RunReport report(Kill kill, Join join) {
        Verdict verdict = checker.verdict(0, 0);
        return ReportWriter.report(facts(kill, join, 0), verdict);
    }

    private RunFacts facts(Kill kill, Join join, long undrained) {
        return new RunFacts(
                new RunFacts.Setup("demo", 2, 1, 2, jobs, 100, 500, "7.0.15", "path"),
                jobs / 100.0,
                jobs / 100.0 + 1,
                FIRST_DUE_US,
                undrained,
                jobs * 20.0,
                400.0,
                null,
                kill,
                join,
                List.of());
    }

    private static void assertFailure(RunReport report, String what) {
        assertThat(report.passed()).isFalse();
        assertThat(report.exitStatus()).isEqualTo(1);
        assertThat(report.failures()).singleElement().asString().contains(what);
    }

    private static List<String> names(JsonNode node) {
        List<String> names = new ArrayList<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
