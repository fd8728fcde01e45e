package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.median;
import static io.minutehand.loadtest.report.Figures.rounded;

import io.minutehand.loadtest.lab.SystemReport.ProcessRow;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** What a cluster cost that had nothing to do, by its size. */
record IdleReport(
        String scenario, Map<String, String> machine, Map<String, String> settings, List<Row> rows, List<Row> medians)
        implements ScenarioReport {
    private static final List<String> CALLS = List.of("evalsha", "eval", "ping");

    /**
     * One size in one turn; in the medians the turn is 0.
     *
     * @param callsPerSec scripts and pings that the workers sent
     * @param commandsPerSec everything that Redis ran, by command: what scripts call counts here, too, and what this process
     *     asked itself does not
     * @param redisCpuMsPerSec CPU time of Redis in a second
     * @param workerCpuMsPerSec of a worker, on average
     * @param processes CPU time of each over the whole time
     */
    record Row(
            int nodes,
            int shards,
            int turn,
            double seconds,
            double callsPerSec,
            double redisCpuMsPerSec,
            double workerCpuMsPerSec,
            Map<String, Double> commandsPerSec,
            List<ProcessRow> processes,
            String measuredWith)
            implements Saved {
        static Row of(
                int nodes,
                int shards,
                int turn,
                double seconds,
                Map<String, RedisMeter.Cost> before,
                Map<String, RedisMeter.Cost> after,
                double redisCpuUs,
                List<ProcessRow> processes,
                String measuredWith) {
            Map<String, Double> rates = new TreeMap<>();
            after.forEach((command, cost) -> {
                long calls = cost.minus(before.getOrDefault(command, new RedisMeter.Cost(0, 0)))
                        .calls();
                if (calls > 0 && !command.startsWith("info") && !command.startsWith("config")) {
                    rates.put(command, rounded(calls / seconds));
                }
            });
            return new Row(
                    nodes,
                    shards,
                    turn,
                    rounded(seconds),
                    rounded(CALLS.stream()
                            .mapToDouble(command -> rates.getOrDefault(command, 0.0))
                            .sum()),
                    rounded(redisCpuUs / 1e3 / seconds),
                    rounded(processes.stream()
                                    .mapToDouble(ProcessRow::cpuSeconds)
                                    .sum()
                            * 1e3
                            / seconds
                            / Math.max(1, processes.size())),
                    rates,
                    processes,
                    measuredWith);
        }

        private String name() {
            return nodes + (nodes == 1 ? " node, " : " nodes, ") + shards + " shards";
        }
    }

    static IdleReport of(Map<String, String> machine, Map<String, String> settings, List<Row> rows) {
        Map<String, List<Row>> sizes = new LinkedHashMap<>();
        rows.forEach(row ->
                sizes.computeIfAbsent(row.name(), unused -> new ArrayList<>()).add(row));
        List<Row> medians = sizes.values().stream()
                .map(all -> new Row(
                        all.get(0).nodes(),
                        all.get(0).shards(),
                        0,
                        all.get(0).seconds(),
                        of(all, Row::callsPerSec),
                        of(all, Row::redisCpuMsPerSec),
                        of(all, Row::workerCpuMsPerSec),
                        Map.of(),
                        List.of(),
                        all.get(0).measuredWith()))
                .toList();
        return new IdleReport(IdleCommand.SCENARIO, machine, settings, rows, medians);
    }

    private static double of(List<Row> rows, ToDoubleFunction<Row> figure) {
        return median(rows.stream().mapToDouble(figure));
    }

    @Override
    public List<String> lines() {
        Table table = new Table("no jobs", "calls/s", "Redis CPU ms/s", "worker CPU ms/s");
        medians.forEach(row -> table.row(
                row.name(),
                Figures.one(row.callsPerSec()),
                Figures.one(row.redisCpuMsPerSec()),
                Figures.one(row.workerCpuMsPerSec())));
        return table.lines();
    }

    @Override
    public HtmlReport page() {
        PageBuilder page = new PageBuilder(
                        scenario,
                        machine,
                        settings,
                        medians.stream().map(Row::name).toList())
                .figures("calls of Redis a second", medians, row -> Figures.one(row.callsPerSec()))
                .figures("CPU of Redis, ms a second", medians, row -> Figures.one(row.redisCpuMsPerSec()))
                .figures("CPU of a worker, ms a second", medians, row -> Figures.one(row.workerCpuMsPerSec()));
        medians.stream().map(Row::shards).distinct().forEach(shards -> {
            List<Row> some = medians.stream()
                    .filter(row -> row.shards() == shards)
                    .sorted(Comparator.comparing(Row::nodes))
                    .toList();
            page.chart(new Chart(
                    "Calls of Redis without jobs",
                    shards + " shards",
                    "worker processes",
                    "calls a second",
                    some.stream().map(row -> (double) row.nodes()).toList(),
                    List.of(new Line(
                            "calls", some.stream().map(Row::callsPerSec).toList()))));
        });
        return page.build();
    }

    @Override
    public int exitStatus() {
        return 0;
    }
}
