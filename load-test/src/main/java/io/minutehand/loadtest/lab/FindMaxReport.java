package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The highest rate that was held.
 *
 * @param limitMs what p99 of the lateness may be
 * @param maxRate the highest rate that was held; null if none was
 * @param steps in the order in which they were made
 * @param run the run at that rate, or null
 */
record FindMaxReport(
        String scenario,
        Map<String, String> machine,
        Map<String, String> settings,
        double limitMs,
        @Nullable Double maxRate,
        List<Step> steps,
        @Nullable SystemReport run)
        implements ScenarioReport {
    /** A rate that was tried; {@code why} says what was wrong if it was not held. */
    record Step(double rate, boolean held, double p50, double p99, double max, double startedPerSec, String why) {
        static Step of(SystemReport run, double limitMs) {
            List<String> why = new ArrayList<>(run.failures());
            if (run.latenessMs().p99() > limitMs) {
                why.add("p99 is more than " + Figures.plain(limitMs) + " ms");
            }
            return new Step(
                    run.figures().rate(),
                    why.isEmpty(),
                    run.latenessMs().p50(),
                    run.latenessMs().p99(),
                    run.latenessMs().max(),
                    run.figures().dispatchedPerSec(),
                    String.join("; ", why));
        }

        String line() {
            return "  " + Figures.plain(rate) + "/s " + (held ? "held" : "not held") + ": p99 " + Figures.ms(p99)
                    + " ms" + (held ? "" : "; " + why);
        }
    }

    @Override
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        Table table = new Table("jobs a second", "held", "p50 ms", "p99 ms", "max ms", "started/s");
        steps.forEach(step -> table.row(
                Figures.plain(step.rate()),
                step.held() ? "yes" : "no",
                Figures.ms(step.p50()),
                Figures.ms(step.p99()),
                Figures.ms(step.max()),
                Figures.count(Math.round(step.startedPerSec()))));
        lines.addAll(table.lines());
        lines.add(
                maxRate == null
                        ? "FAILED no rate that was tried was held with p99 <= " + Figures.plain(limitMs) + " ms"
                        : "highest rate held with p99 <= " + Figures.plain(limitMs) + " ms: " + Figures.plain(maxRate)
                                + " jobs a second");
        return lines;
    }

    @Override
    public HtmlReport page() {
        List<String> columns =
                steps.stream().map(step -> Figures.plain(step.rate()) + "/s").toList();
        PageBuilder page = new PageBuilder(scenario + " --find-max", machine, settings, columns)
                .figures("held", steps, step -> step.held() ? "yes" : "no")
                .figures("lateness p50, ms", steps, step -> Figures.ms(step.p50()))
                .figures("lateness p99, ms", steps, step -> Figures.ms(step.p99()))
                .figures("lateness max, ms", steps, step -> Figures.ms(step.max()));
        List<Step> rising =
                steps.stream().sorted(Comparator.comparingDouble(Step::rate)).toList();
        return page.chart(new Chart(
                        "Lateness by rate",
                        "p50 and p99",
                        "jobs a second",
                        "ms",
                        rising.stream().map(Step::rate).toList(),
                        List.of(
                                new Line("p99", rising.stream().map(Step::p99).toList()),
                                new Line("p50", rising.stream().map(Step::p50).toList()))))
                .build();
    }

    @Override
    public int exitStatus() {
        return maxRate == null ? 1 : 0;
    }
}
