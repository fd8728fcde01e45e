package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What became of memory, threads and keys over a long run.
 *
 * @param flat whether every series is
 */
record SoakReport(
        String scenario,
        Map<String, String> machine,
        Map<String, String> settings,
        boolean flat,
        List<SoakVerdict> verdicts,
        Run run)
        implements ScenarioReport {
    /** The run and its samples. */
    record Run(SystemReport run, List<SoakSeries> series, String measuredWith) implements Saved {}

    static SoakReport of(Map<String, String> machine, Map<String, String> settings, Run run) {
        List<SoakVerdict> verdicts = run.series().stream().map(SoakVerdict::of).toList();
        boolean flat = !verdicts.isEmpty() && verdicts.stream().allMatch(SoakVerdict::flat);
        return new SoakReport(SoakCommand.SCENARIO, machine, settings, flat, verdicts, run);
    }

    @Override
    public List<String> lines() {
        Table table = new Table("series", "middle third", "last third", "change", "flat");
        verdicts.forEach(verdict -> table.row(
                verdict.series(),
                Figures.one(verdict.middle()),
                Figures.one(verdict.last()),
                String.format(Locale.ROOT, "%+.1f %%", verdict.change() * 100),
                verdict.flat() ? "yes" : "no"));
        List<String> lines = new ArrayList<>(table.lines());
        SystemReport all = run.run();
        lines.add("lateness ms: p50 " + Figures.ms(all.latenessMs().p50()) + ", p99 "
                + Figures.ms(all.latenessMs().p99()) + ", max "
                + Figures.ms(all.latenessMs().max()) + "; started "
                + Figures.count(all.figures().started()) + ", lost "
                + all.figures().lost() + ", twice "
                + all.figures().duplicates() + ", early " + all.figures().early());
        lines.addAll(LabSession.failures(List.of(all)));
        verdicts.stream()
                .filter(verdict -> !verdict.flat())
                .forEach(verdict -> lines.add("FAILED " + verdict.failure()));
        return lines;
    }

    @Override
    public HtmlReport page() {
        SystemReport all = run.run();
        PageBuilder page = new PageBuilder(scenario, machine, settings, List.of(all.system()))
                .figures(
                        "lateness p50, ms",
                        List.of(all),
                        report -> Figures.ms(report.latenessMs().p50()))
                .figures(
                        "lateness p99, ms",
                        List.of(all),
                        report -> Figures.ms(report.latenessMs().p99()))
                .figures(
                        "lateness max, ms",
                        List.of(all),
                        report -> Figures.ms(report.latenessMs().max()));
        verdicts.forEach(verdict -> page.figures(
                verdict.series() + ", last third over middle third",
                List.of(verdict),
                each -> String.format(
                        Locale.ROOT, "%+.1f %%%s", each.change() * 100, each.flat() ? "" : ", not flat")));
        for (SoakSeries.Kind kind : SoakSeries.Kind.values()) {
            List<SoakSeries> some =
                    run.series().stream().filter(each -> each.kind() == kind).toList();
            if (!some.isEmpty()) {
                page.chart(new Chart(
                        "Does it grow?",
                        kind.label,
                        "time, s",
                        kind.label,
                        some.get(0).seconds(),
                        some.stream()
                                .map(each -> new Line(each.of(), each.values()))
                                .toList()));
            }
        }
        LabPage.waiting(all.system(), all).ifPresent(page::chart);
        return page.build();
    }

    @Override
    public int exitStatus() {
        return flat && run.run().passed() ? 0 : 1;
    }
}
