package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ViewsTest {
    private final Progress progress = new Progress(DemoTopic.names());
    private final List<Snapshot.Node> nodes = new ArrayList<>();
    private final List<String> events = new ArrayList<>();

    private Snapshot.Phase phase = Snapshot.Phase.RUNNING;

    @BeforeEach
    void runSomeJobs() {
        for (int i = 0; i < 100; i++) {
            run("order:" + i, "order.close.timeout", 1, i % 2 == 0 ? "node-1" : "node-2", 1_000 + i * 10L, Result.DONE);
        }
        run("webhook:1", "webhook.callback", 1, "node-1", 500, Result.FAILED);
        run("webhook:1", "webhook.callback", 2, "node-2", 500, Result.DONE);
        run("webhook:2", "webhook.callback", 1, "node-1", 500, Result.FAILED);
        progress.accept(new Dead("webhook:2", "webhook.callback", 1, "node-1", 9));
        run("warm:1", "warmup", 1, "node-1", 900_000, Result.DONE);
        nodes.add(new Snapshot.Node("node-1", 4711, "up", new WorkerLine.Status("1", 12, 3, Map.of())));
        nodes.add(new Snapshot.Node("node-2", 4712, "killed", new WorkerLine.Status("2", 9, 9, Map.of())));
        events.add("  12.0 s  node-2 killed (SIGKILL) with 9 buckets and 9 jobs in flight");
    }

    @Test
    void shouldCountByTopicNodeAndInAll() {
        assertThat(progress.total().accepted()).isEqualTo(102);
        assertThat(progress.total().started()).isEqualTo(103);
        assertThat(progress.total().retried()).isEqualTo(1);
        assertThat(progress.ended()).isEqualTo(102);
        assertThat(progress.total().dead()).isEqualTo(1);
        assertThat(progress.warmupEnded()).isEqualTo(1);
        assertThat(progress.total().lateness().max()).isEqualTo(1.99);
        assertThat(progress.node("node-2").started()).isEqualTo(51);
        assertThat(progress.topics().get("report.render").accepted()).isZero();
        assertThat(progress.open()).isEmpty();
    }

    @Test
    void shouldKnowWhichJobsAreStillOpen() {
        progress.accept(new Intent("order:open", "order.close.timeout", 1, 1));
        progress.accept(new Outcome("order:open", Ack.ACCEPTED, "CREATED", 1, 1));

        assertThat(progress.open()).containsOnlyKeys("order:open").containsValue("order.close.timeout");
    }

    @Test
    void shouldNotTakeARepeatedStartForALateOne() {
        run("order:0", "order.close.timeout", 1, "node-2", 8_000_000, Result.DONE);

        assertThat(progress.total().lateness().max()).isEqualTo(1.99);
        assertThat(progress.total().started()).isEqualTo(104);
        assertThat(progress.ended()).isEqualTo(102);
    }

    @Test
    void shouldFitAScreenOf80By24() {
        List<String> lines = new Dashboard(24, false, true).lines(snapshot());

        assertThat(lines)
                .hasSizeLessThanOrEqualTo(23)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
        assertThat(String.join("\n", lines))
                .contains(
                        "scheduled 102", "order.close.timeout", "report.render", "node-1", "4711", "killed", "SIGKILL");
    }

    @Test
    void shouldFitTheScreenWithMoreNodesThanItHasLines() {
        nodes.clear();
        IntStream.rangeClosed(1, 32)
                .forEach(i -> nodes.add(new Snapshot.Node("node-" + i, i, "up", WorkerLine.Status.NONE)));

        List<String> lines = new Dashboard(24, false, false).lines(snapshot());

        assertThat(lines).hasSizeLessThanOrEqualTo(23);
        assertThat(String.join("\n", lines)).contains("and ").contains(" more");
    }

    @Test
    void shouldShowHowFarStartAndWarmUpAre() {
        phase = Snapshot.Phase.STARTING;
        assertThat(String.join("\n", new Dashboard(24, false, true).lines(snapshot())))
                .contains("1 of 2 worker processes");
        phase = Snapshot.Phase.WARMING_UP;
        assertThat(String.join("\n", new Dashboard(24, false, true).lines(snapshot())))
                .contains("1 of 500 warm-up jobs");
    }

    @Test
    void shouldPaintOnlyWhereColoursAreWanted() {
        assertThat(new Dashboard(24, false, true).lines(snapshot())).noneMatch(line -> line.contains("\u001b"));
        assertThat(new Dashboard(24, true, true).lines(snapshot())).anyMatch(line -> line.contains("\u001b[31mnode-2"));
    }

    @Test
    void shouldLeaveTheTerminalAsItWas() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        View view = new LiveView(print(bytes), new Dashboard(24, true, true));
        view.say("before");
        view.show(snapshot());
        view.say("meanwhile");
        view.end();
        view.end();
        view.show(snapshot());
        view.say("after");

        String text = bytes.toString(StandardCharsets.UTF_8);
        assertThat(text).startsWith("before");
        assertThat(text)
                .containsOnlyOnce("\u001b[?1049h")
                .containsOnlyOnce("\u001b[?1049l")
                .containsOnlyOnce("\u001b[?25h");
        assertThat(text.substring(text.indexOf("\u001b[?1049l")))
                .isEqualTo("\u001b[?1049l" + String.format("meanwhile%nafter%n"));
    }

    @Test
    void shouldPrintPlainLinesWithoutEscapes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        View view = new PlainView(print(bytes));
        view.show(snapshot());
        view.show(snapshot());
        view.end();

        assertThat(bytes.toString(StandardCharsets.UTF_8).lines().toList())
                .hasSize(2)
                .noneMatch(line -> line.contains("\u001b"))
                .anyMatch(line -> line.contains("SIGKILL"))
                .anyMatch(line -> line.contains("scheduled 102") && line.contains("nodes 1"));
    }

    private Snapshot snapshot() {
        return new Snapshot(
                "source=path Redis 7.0.15",
                "3 nodes, 3 topics x 8 shards, 10,000 jobs at 500/s",
                phase,
                12.3,
                10_000,
                progress,
                nodes,
                events);
    }

    private void run(String id, String topic, int attempt, String node, long lateUs, Result result) {
        if (attempt == 1) {
            progress.accept(new Intent(id, topic, 1_000_000, 0));
            progress.accept(new Outcome(id, Ack.ACCEPTED, "CREATED", 1_000_000, 0));
        }
        progress.accept(new Start(id, topic, attempt, 1, node, 0, 1_000_000, 1_000_000 + lateUs, 10, 0));
        progress.accept(new End(id, attempt, 1, node, result, 0));
    }

    private static PrintStream print(ByteArrayOutputStream bytes) {
        return new PrintStream(bytes, true, StandardCharsets.UTF_8);
    }
}
