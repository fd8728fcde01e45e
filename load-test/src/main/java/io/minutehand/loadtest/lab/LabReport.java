package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.median;

import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What a scenario found, with everything that one needs to judge or repeat it.
 *
 * @param scenario its name
 * @param machine what it ran on
 * @param settings the command's options
 * @param runs every run, those of one turn after each other
 * @param medians of all runs, by system and figure
 * @param ratios by figure, the median over the turns of (the system's figure / the product's in the same turn)
 */
record LabReport(
        String scenario,
        Map<String, String> machine,
        Map<String, String> settings,
        List<SystemReport> runs,
        Map<String, Row> medians,
        Map<String, Row> ratios)
        implements ScenarioReport {

    /** Figures of a system over all runs, or their ratios to the product's. */
    record Row(
            double p50,
            double p90,
            double p99,
            double p999,
            double p9999,
            double max,
            double scheduledPerSec,
            double dispatchedPerSec,
            double redisCpuUsPerJob) {
        private static Row of(ToDoubleFunction<ToDoubleFunction<SystemReport>> combined) {
            return new Row(
                    combined.applyAsDouble(report -> report.latenessMs().p50()),
                    combined.applyAsDouble(report -> report.latenessMs().p90()),
                    combined.applyAsDouble(report -> report.latenessMs().p99()),
                    combined.applyAsDouble(report -> report.latenessMs().p999()),
                    combined.applyAsDouble(report -> report.latenessMs().p9999()),
                    combined.applyAsDouble(report -> report.latenessMs().max()),
                    combined.applyAsDouble(report -> report.figures().scheduledPerSec()),
                    combined.applyAsDouble(report -> report.figures().dispatchedPerSec()),
                    combined.applyAsDouble(SystemReport::redisCpuUsPerJob));
        }
    }

    static LabReport of(
            String scenario,
            Map<String, String> machine,
            Map<String, String> settings,
            List<List<SystemReport>> turns) {
        Map<String, Row> medians = new LinkedHashMap<>();
        Map<String, Row> ratios = new LinkedHashMap<>();
        for (int system = 0; system < turns.get(0).size(); system++) {
            int index = system;
            String label = turns.get(0).get(system).system();
            medians.put(
                    label,
                    Row.of(figure ->
                            median(turns.stream().mapToDouble(turn -> figure.applyAsDouble(turn.get(index))))));
            if (system > 0) {
                ratios.put(
                        label,
                        Row.of(figure -> median(turns.stream()
                                .mapToDouble(turn ->
                                        figure.applyAsDouble(turn.get(index)) / figure.applyAsDouble(turn.get(0))))));
            }
        }
        return new LabReport(
                scenario,
                machine,
                settings,
                turns.stream().flatMap(List::stream).toList(),
                medians,
                ratios);
    }

    @Override
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        machine.forEach((name, value) -> lines.add(name + ": " + value));
        Table table = new Table(
                "lateness ms", "p50", "p90", "p99", "p99.9", "p99.99", "max", "stored/s", "started/s", "Redis us/job");
        medians.forEach((system, figures) -> table.row(
                system,
                Figures.ms(figures.p50()),
                Figures.ms(figures.p90()),
                Figures.ms(figures.p99()),
                Figures.ms(figures.p999()),
                Figures.ms(figures.p9999()),
                Figures.ms(figures.max()),
                Figures.count(Math.round(figures.scheduledPerSec())),
                Figures.count(Math.round(figures.dispatchedPerSec())),
                Figures.one(figures.redisCpuUsPerJob())));
        lines.addAll(table.lines());
        ratios.forEach((system, figures) -> lines.add(system + " / minutehand: p50 " + Figures.one(figures.p50())
                + ", p99 " + Figures.one(figures.p99()) + ", p99.9 " + Figures.one(figures.p999())
                + ", Redis CPU " + Figures.one(figures.redisCpuUsPerJob())));
        lines.addAll(LabSession.failures(runs));
        return lines;
    }

    /** 0 if nothing failed in any run of the product, else 1: what others lose is theirs. */
    @Override
    public int exitStatus() {
        return runs.stream().allMatch(run -> run.passed() || !run.system().equals("minutehand")) ? 0 : 1;
    }

    @Override
    public HtmlReport page() {
        return LabPage.of(this);
    }
}
