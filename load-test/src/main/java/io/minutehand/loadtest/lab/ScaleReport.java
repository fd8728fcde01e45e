package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.median;
import static io.minutehand.loadtest.report.Figures.rounded;

import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The same load at several sizes of the cluster.
 *
 * @param cases medians of the runs of each size, in the order in which they were measured
 */
record ScaleReport(
        String scenario, Map<String, String> machine, Map<String, String> settings, List<Run> runs, List<Case> cases)
        implements ScenarioReport {
    /** One run. */
    record Run(int primaries, int turn, SystemReport run, String measuredWith) implements Saved {}

    /**
     * Medians of a size.
     *
     * @param jobsPerRedisCpuSecond of all primaries together
     * @param jobsPerRedisCpuSecondNet without what they use when there are no jobs
     * @param p99Ratio p99 over that with the fewest nodes on as many primaries
     * @param jobsRatio {@code jobsPerRedisCpuSecond} over that on the fewest primaries with as many nodes
     */
    record Case(
            int nodes,
            int primaries,
            double p50,
            double p99,
            double max,
            double jobsPerRedisCpuSecond,
            double jobsPerRedisCpuSecondNet,
            double p99Ratio,
            double jobsRatio) {}

    static ScaleReport of(Map<String, String> machine, Map<String, String> settings, List<Run> runs) {
        Map<List<Integer>, List<Run>> sizes = new LinkedHashMap<>();
        runs.forEach(run -> sizes.computeIfAbsent(
                        List.of(run.run().figures().nodes(), run.primaries()), unused -> new ArrayList<>())
                .add(run));
        List<Case> cases = new ArrayList<>();
        sizes.forEach((size, all) -> {
            int nodes = size.get(0);
            int primaries = size.get(1);
            List<Run> fewestNodes = sizes.entrySet().stream()
                    .filter(entry -> entry.getKey().get(1) == primaries)
                    .min(Comparator.comparing(entry -> entry.getKey().get(0)))
                    .map(Map.Entry::getValue)
                    .orElse(all);
            List<Run> fewestPrimaries = sizes.entrySet().stream()
                    .filter(entry -> entry.getKey().get(0) == nodes)
                    .min(Comparator.comparing(entry -> entry.getKey().get(1)))
                    .map(Map.Entry::getValue)
                    .orElse(all);
            cases.add(new Case(
                    nodes,
                    primaries,
                    of(all, run -> run.latenessMs().p50()),
                    of(all, run -> run.latenessMs().p99()),
                    of(all, run -> run.latenessMs().max()),
                    rounded(1e6 / of(all, SystemReport::redisCpuUsPerJob)),
                    rounded(1e6 / of(all, SystemReport::redisCpuUsPerJobNet)),
                    ratio(all, fewestNodes, run -> run.latenessMs().p99()),
                    // Of its reciprocal.
                    ratio(fewestPrimaries, all, SystemReport::redisCpuUsPerJob)));
        });
        return new ScaleReport(ScaleCommand.SCENARIO, machine, settings, runs, cases);
    }

    private static double of(List<Run> runs, ToDoubleFunction<SystemReport> figure) {
        return median(runs.stream().mapToDouble(run -> figure.applyAsDouble(run.run())));
    }

    /** The median over the turns. */
    private static double ratio(List<Run> runs, List<Run> others, ToDoubleFunction<SystemReport> figure) {
        return median(IntStream.range(0, runs.size())
                .mapToDouble(i -> figure.applyAsDouble(runs.get(i).run())
                        / figure.applyAsDouble(others.get(i).run())));
    }

    private static String name(Case size) {
        return size.nodes()
                + (size.nodes() == 1 ? " node, " : " nodes, ")
                + size.primaries()
                + (size.primaries() == 1 ? " primary" : " primaries");
    }

    private List<SystemReport> reports() {
        return runs.stream().map(Run::run).toList();
    }

    @Override
    public List<String> lines() {
        Table table =
                new Table("lateness ms", "p50", "p99", "max", "p99 ratio", "jobs/Redis CPU s", "net of idle", "ratio");
        cases.forEach(size -> table.row(
                name(size),
                Figures.ms(size.p50()),
                Figures.ms(size.p99()),
                Figures.ms(size.max()),
                String.format(Locale.ROOT, "%.2f", size.p99Ratio()),
                Figures.count(Math.round(size.jobsPerRedisCpuSecond())),
                Figures.count(Math.round(size.jobsPerRedisCpuSecondNet())),
                String.format(Locale.ROOT, "%.2f", size.jobsRatio())));
        List<String> lines = new ArrayList<>(table.lines());
        lines.add("ratios: p99 to the fewest nodes, jobs per Redis CPU second to the fewest primaries");
        lines.addAll(LabSession.failures(reports()));
        return lines;
    }

    @Override
    public HtmlReport page() {
        PageBuilder page = new PageBuilder(
                        scenario,
                        machine,
                        settings,
                        cases.stream().map(ScaleReport::name).toList())
                .figures("lateness p50, ms", cases, size -> Figures.ms(size.p50()))
                .figures("lateness p99, ms", cases, size -> Figures.ms(size.p99()))
                .figures("lateness max, ms", cases, size -> Figures.ms(size.max()))
                .figures(
                        "jobs per Redis CPU second",
                        cases,
                        size -> Figures.count(Math.round(size.jobsPerRedisCpuSecond())))
                .figures(
                        "the same, net of idle",
                        cases,
                        size -> Figures.count(Math.round(size.jobsPerRedisCpuSecondNet())));
        cases.stream().map(Case::primaries).distinct().forEach(primaries -> {
            List<Case> some = cases.stream()
                    .filter(size -> size.primaries() == primaries)
                    .sorted(Comparator.comparing(Case::nodes))
                    .toList();
            page.chart(new Chart(
                    "Lateness by number of worker processes",
                    primaries == 1 ? "one Redis" : primaries + " primaries",
                    "worker processes",
                    "ms",
                    some.stream().map(size -> (double) size.nodes()).toList(),
                    List.of(
                            new Line("p99", some.stream().map(Case::p99).toList()),
                            new Line("p50", some.stream().map(Case::p50).toList()))));
        });
        return page.build();
    }

    @Override
    public int exitStatus() {
        return reports().stream().allMatch(SystemReport::passed) ? 0 : 1;
    }
}
