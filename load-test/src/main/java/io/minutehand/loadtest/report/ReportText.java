package io.minutehand.loadtest.report;

import static io.minutehand.loadtest.report.Figures.count;
import static io.minutehand.loadtest.report.Figures.ms;
import static io.minutehand.loadtest.report.Figures.one;
import static io.minutehand.loadtest.report.Figures.percent;

import io.minutehand.loadtest.report.RunReport.Added;
import io.minutehand.loadtest.report.RunReport.Boundary;
import io.minutehand.loadtest.report.RunReport.Fault;
import io.minutehand.loadtest.report.RunReport.LatenessMs;
import io.minutehand.loadtest.report.RunReport.MinuteRow;
import io.minutehand.loadtest.report.RunReport.NodeRow;
import io.minutehand.loadtest.report.RunReport.TopicRow;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The report of a run for people. */
public final class ReportText {
    private ReportText() {}

    /** Returns the report as lines of text, the verdict last. */
    public static List<String> lines(RunReport report) {
        List<String> lines = new ArrayList<>();
        lines.addAll(topics(report));
        lines.add("");
        lines.addAll(nodes(report));
        if (report.perMinute().size() > 1) {
            lines.add("");
            lines.addAll(minutes(report));
        }
        lines.add("");
        lines.add(String.format(
                "scheduled %s a second, dispatched %s a second, %s s in all",
                one(report.figures().scheduledPerSec()),
                one(report.figures().dispatchedPerSec()),
                one(report.figures().seconds())));
        lines.add(String.format(
                "Redis %s (%s): %s us of CPU a job, %s bytes a pending job",
                report.figures().redisVersion(),
                report.figures().redisSource(),
                known(report.figures().redisCpuUsPerJob()),
                known(report.figures().bytesPerPendingJob())));
        boundary(report.figures().boundary(), lines);
        fault(report.figures().fault(), lines);
        added(report.added(), lines);
        lines.add("");
        verdict(report, lines);
        return lines;
    }

    private static List<String> topics(RunReport report) {
        Table table = new Table("topic", "scheduled", "done", "retried", "dead", "p50 ms", "p99 ms", "max ms");
        for (TopicRow row : report.perTopic()) {
            LatenessMs late = row.latenessMs();
            table.row(
                    row.topic(),
                    count(row.scheduled()),
                    count(row.done()),
                    count(row.retried()),
                    count(row.dead()),
                    ms(late.p50()),
                    ms(late.p99()),
                    ms(late.max()));
        }
        LatenessMs late = report.figures().latenessMs();
        table.row(
                "all",
                count(report.figures().scheduled()),
                count(report.figures().done()),
                count(report.others().retried()),
                count(report.figures().dead()),
                ms(late.p50()),
                ms(late.p99()),
                ms(late.max()));
        return table.lines();
    }

    private static List<String> nodes(RunReport report) {
        Table table = new Table("node", "started", "share", "p50 ms", "p99 ms", "p99.9", "max ms");
        for (NodeRow row : report.perNode()) {
            LatenessMs late = row.latenessMs();
            table.row(
                    row.node(),
                    count(row.started()),
                    percent(row.share()),
                    ms(late.p50()),
                    ms(late.p99()),
                    ms(late.p999()),
                    ms(late.max()));
        }
        return table.lines();
    }

    private static List<String> minutes(RunReport report) {
        TreeSet<String> nodes = new TreeSet<>();
        report.perMinute().forEach(row -> nodes.addAll(row.nodes().keySet()));
        List<String> heading = new ArrayList<>(List.of("due in minute", "started"));
        heading.addAll(nodes);
        Table table = new Table(heading.toArray(String[]::new));
        for (MinuteRow row : report.perMinute()) {
            List<String> cells = new ArrayList<>(List.of(row.minute(), count(row.started())));
            for (String node : nodes) {
                cells.add(percent(row.nodes().getOrDefault(node, 0L) / (double) row.started()));
            }
            table.row(cells.toArray(String[]::new));
        }
        return table.lines();
    }

    private static void boundary(Boundary boundary, List<String> lines) {
        Double near = boundary.p99();
        Double elsewhere = boundary.elsewhereP99();
        if (near != null && elsewhere != null) {
            lines.add(String.format(
                    "p99 within a second of a minute boundary %s ms (%s starts), elsewhere %s ms",
                    ms(near), count(boundary.starts()), ms(elsewhere)));
        }
    }

    private static void fault(@Nullable Fault fault, List<String> lines) {
        if (fault == null) {
            return;
        }
        Double takeover = fault.takeoverMs();
        lines.add(String.format(
                "%s was killed after %s s with %d buckets and %d jobs in flight",
                fault.node(), one(fault.at()), fault.bucketsHeld(), fault.inFlight()));
        lines.add(String.format(
                "  %d of them ran twice; %s",
                fault.repeatedStarts(),
                takeover == null
                        ? "its buckets had no more jobs"
                        : "all its buckets were taken over within " + ms(takeover) + " ms"));
        lines.add("  no job due after that was later than " + ms(fault.dueAfterMaxMs()) + " ms");
        lines.add(String.format(
                "  p99 %s ms in the 8 s before, %s ms in the last 8 s of the run",
                ms(fault.before8sP99()), ms(fault.last8sP99())));
    }

    private static void added(@Nullable Added added, List<String> lines) {
        if (added == null) {
            return;
        }
        lines.add(String.format(
                "%s joined after %s s; no job due after that was later than %s ms",
                added.node(), one(added.at()), ms(added.dueAfterMaxMs())));
        lines.add(String.format(
                "  p99 %s ms in the 8 s before, %s ms in the 8 s after",
                ms(added.before8sP99()), ms(added.after8sP99())));
        Double share = added.share();
        Double assigned = added.assignedShare();
        if (share != null) {
            lines.add("  from the first minute begun 10 s later it drained " + percent(share)
                    + (assigned == null ? "" : "; the assignment: " + percent(assigned)));
        }
    }

    private static void verdict(RunReport report, List<String> lines) {
        LatenessMs late = report.figures().latenessMs();
        lines.add(String.format(
                "late ms: p50 %s  p90 %s  p99 %s  p99.9 %s  max %s",
                ms(late.p50()), ms(late.p90()), ms(late.p99()), ms(late.p999()), ms(late.max())));
        lines.add(String.format(
                "%s: of %s jobs lost %d, run twice %d, early %d",
                report.passed() ? "PASSED" : "FAILED",
                count(report.figures().jobs()),
                report.figures().lost(),
                report.figures().duplicates(),
                report.figures().early()));
        report.failures().forEach(failure -> lines.add("  " + failure));
    }

    private static String known(@Nullable Double figure) {
        return figure == null ? "?" : one(figure);
    }
}
