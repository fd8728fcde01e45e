package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.lab.LabReport.Row;
import io.minutehand.loadtest.lab.SystemReport.BucketRow;
import io.minutehand.loadtest.lab.SystemReport.Buckets;
import io.minutehand.loadtest.lab.SystemReport.WaitingRow;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Fact;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import io.minutehand.loadtest.report.html.HtmlReport.Percentile;
import io.minutehand.loadtest.report.html.HtmlReport.Second;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A report of the lab as a page with charts: medians in the table, and of each system the run whose p99 is the median one. */
final class LabPage {
    private LabPage() {}

    static HtmlReport of(LabReport report) {
        List<Fact> facts = new ArrayList<>();
        report.machine().forEach((name, value) -> facts.add(new Fact(name, value)));
        SystemReport any = report.runs().get(0);
        facts.add(new Fact(
                "Redis", any.figures().redisVersion() + " (" + any.figures().redisSource() + ")"));
        report.settings().forEach((name, value) -> facts.add(new Fact(name, value)));
        List<String> systems = List.copyOf(report.medians().keySet());
        List<Figure> figures = new ArrayList<>();
        figures.add(figure(report, systems, "lateness p50, ms", Row::p50, Figures::ms));
        figures.add(figure(report, systems, "lateness p99, ms", Row::p99, Figures::ms));
        figures.add(figure(report, systems, "lateness p99.9, ms", Row::p999, Figures::ms));
        figures.add(figure(report, systems, "lateness p99.99, ms", Row::p9999, Figures::ms));
        figures.add(figure(report, systems, "lateness max, ms", Row::max, Figures::ms));
        figures.add(figure(report, systems, "stored a second", Row::scheduledPerSec, LabPage::count));
        figures.add(figure(report, systems, "started a second", Row::dispatchedPerSec, LabPage::count));
        figures.add(figure(report, systems, "Redis CPU a job, us", Row::redisCpuUsPerJob, Figures::one));
        figures.add(sums(report, systems, "lost", run -> run.figures().lost()));
        figures.add(sums(report, systems, "started twice", run -> run.figures().duplicates()));
        figures.add(sums(report, systems, "early", run -> run.figures().early()));
        return new HtmlReport(
                "minutehand bench " + report.scenario(),
                facts,
                figures,
                systems.stream().map(system -> measured(report, system)).toList(),
                systems.stream()
                        .map(system -> waiting(system, median(report, system)))
                        .flatMap(Optional::stream)
                        .toList());
    }

    private static String count(double figure) {
        return Figures.count(Math.round(figure));
    }

    private static Figure figure(
            LabReport report,
            List<String> systems,
            String label,
            ToDoubleFunction<Row> figure,
            Function<Double, String> text) {
        List<String> values = new ArrayList<>();
        List<String> ratios = new ArrayList<>();
        for (String system : systems) {
            Row medians = report.medians().get(system);
            Row ratio = report.ratios().get(system);
            values.add(medians == null ? "" : text.apply(figure.applyAsDouble(medians)));
            if (ratio != null) {
                ratios.add(system + " " + Figures.one(figure.applyAsDouble(ratio)) + " x");
            }
        }
        return new Figure(label, values, String.join(", ", ratios));
    }

    private static Figure sums(
            LabReport report, List<String> systems, String label, Function<SystemReport, Long> count) {
        List<String> values = systems.stream()
                .map(system -> Figures.count(
                        runsOf(report, system).stream().mapToLong(count::apply).sum()))
                .toList();
        return new Figure(label + ", all runs", values, "");
    }

    private static List<SystemReport> runsOf(LabReport report, String system) {
        return report.runs().stream().filter(run -> run.system().equals(system)).toList();
    }

    /** The run whose p99 is the median one. */
    private static SystemReport median(LabReport report, String system) {
        List<SystemReport> byP99 = runsOf(report, system).stream()
                .sorted(Comparator.comparingDouble(run -> run.latenessMs().p99()))
                .toList();
        return byP99.get(byP99.size() / 2);
    }

    /** Jobs that wait over time; nothing for a scheduler without buckets. */
    static Optional<Chart> waiting(String system, SystemReport run) {
        Buckets buckets = run.buckets();
        if (buckets == null || buckets.overTime().size() < 2) {
            return Optional.empty();
        }
        List<WaitingRow> rows = new ArrayList<>();
        for (WaitingRow row : buckets.overTime()) {
            if (rows.isEmpty() || row.second() > rows.get(rows.size() - 1).second()) {
                rows.add(row);
            }
        }
        return Optional.of(new Chart(
                "Jobs that wait in buckets",
                system,
                "time, s from the first due time",
                "jobs",
                rows.stream().map(WaitingRow::second).toList(),
                List.of(
                        new Line(
                                "in all buckets",
                                rows.stream().map(row -> (double) row.jobs()).toList()),
                        new Line(
                                "in the fullest bucket",
                                rows.stream().map(row -> (double) row.largest()).toList()))));
    }

    private static Measured measured(LabReport report, String system) {
        SystemReport run = median(report, system);
        Buckets buckets = run.buckets();
        return new Measured(
                system,
                run.percentiles().stream()
                        .map(point -> new Percentile(point.percentile(), point.ms()))
                        .toList(),
                run.timeline().stream()
                        .map(second -> new Second(
                                second.second(),
                                orNan(second.p50()),
                                orNan(second.p99()),
                                orNan(second.max()),
                                second.scheduled(),
                                second.started()))
                        .toList(),
                buckets == null
                        ? List.of()
                        : buckets.start().stream().map(BucketRow::jobs).toList());
    }

    private static double orNan(@Nullable Double figure) {
        return figure == null ? Double.NaN : figure;
    }
}
