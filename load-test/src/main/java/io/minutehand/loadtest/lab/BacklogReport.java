package io.minutehand.loadtest.lab;

import static io.minutehand.loadtest.report.Figures.median;
import static io.minutehand.loadtest.report.Figures.rounded;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a job cost Redis, by the number of others that waited.
 *
 * @param ratios by system: the most pending over the fewest, the median over the turns
 */
record BacklogReport(
        String scenario,
        Map<String, String> machine,
        Map<String, String> settings,
        List<Run> runs,
        Map<String, Ratio> ratios)
        implements ScenarioReport {

    /**
     * One run.
     *
     * @param scheduleUsPerJob time of scripts for storing a job
     * @param drainUsPerJob time of scripts for popping and acknowledging a job, and what else workers call meanwhile
     * @param scheduleCpuUsPerJob CPU of Redis while jobs were stored, without what it uses when there is nothing to do, by
     *     job; the next likewise
     * @param idleScriptUsPerSec time of scripts in a second in which nothing was to do
     * @param fillSeconds how long it took to store what waits
     * @param bytesPerPendingJob memory of Redis after that, by job that waits
     * @param tablesStillGrowing see {@link Rehash}
     * @param run the figures of every run
     */
    record Run(
            String system,
            long pending,
            int turn,
            double scheduleUsPerJob,
            double drainUsPerJob,
            double scheduleCpuUsPerJob,
            double drainCpuUsPerJob,
            double idleScriptUsPerSec,
            double fillSeconds,
            double bytesPerPendingJob,
            long tables,
            @Nullable Long tablesStillGrowing,
            SystemReport run,
            String measuredWith,
            List<String> failures)
            implements Saved {
        static Run of(
                long pending,
                long spreadMinutes,
                int turn,
                double fillSeconds,
                double bytesAJob,
                Rehash rehash,
                BacklogPhases phases,
                SystemReport run) {
            List<String> failures = new ArrayList<>(run.failures());
            String problem = phases.problem();
            if (problem != null) {
                failures.add(problem);
            }
            Long growing = rehash.stillGrowing();
            if (growing != null && growing > 0) {
                failures.add(growing + " tables of Redis were still growing");
            }
            double jobs = run.figures().jobs();
            return new Run(
                    run.system(),
                    pending,
                    turn,
                    rounded(phases.storing().scriptUs() / jobs),
                    rounded(phases.draining().scriptUs() / jobs),
                    rounded(phases.storing().cpuUs() / jobs),
                    rounded(phases.draining().cpuUs() / jobs),
                    rounded(phases.idle().scriptUs() / phases.idle().seconds()),
                    rounded(fillSeconds),
                    rounded(bytesAJob),
                    rehash.tables(),
                    growing,
                    run,
                    "pending=" + pending + " spread=" + spreadMinutes + " " + run.measuredWith(),
                    failures);
        }

        double bothUsPerJob() {
            return scheduleUsPerJob + drainUsPerJob;
        }

        String line() {
            return "  Redis us a job: schedule " + Figures.one(scheduleUsPerJob) + ", drain "
                    + Figures.one(drainUsPerJob);
        }
    }

    /** The most pending over the fewest. */
    record Ratio(long fewest, long most, double schedule, double drain, double both) {}

    static BacklogReport of(Map<String, String> machine, Map<String, String> settings, List<Run> runs) {
        Map<String, Ratio> ratios = new LinkedHashMap<>();
        bySystem(runs).forEach((system, sizes) -> {
            TreeMap<Long, List<Run>> sorted = new TreeMap<>(sizes);
            List<Run> few = sorted.firstEntry().getValue();
            List<Run> many = sorted.lastEntry().getValue();
            if (sorted.size() > 1) {
                ratios.put(
                        system,
                        new Ratio(
                                sorted.firstKey(),
                                sorted.lastKey(),
                                ratio(few, many, Run::scheduleUsPerJob),
                                ratio(few, many, Run::drainUsPerJob),
                                ratio(few, many, Run::bothUsPerJob)));
            }
        });
        return new BacklogReport(BacklogCommand.SCENARIO, machine, settings, runs, ratios);
    }

    /** Of the runs of each turn. */
    private static double ratio(List<Run> few, List<Run> many, ToDoubleFunction<Run> figure) {
        return median(IntStream.range(0, few.size())
                .mapToDouble(i -> figure.applyAsDouble(many.get(i)) / figure.applyAsDouble(few.get(i))));
    }

    private static Map<String, Map<Long, List<Run>>> bySystem(List<Run> runs) {
        Map<String, Map<Long, List<Run>>> systems = new LinkedHashMap<>();
        runs.forEach(run -> systems.computeIfAbsent(run.system(), unused -> new LinkedHashMap<>())
                .computeIfAbsent(run.pending(), unused -> new ArrayList<>())
                .add(run));
        return systems;
    }

    private static double of(List<Run> runs, ToDoubleFunction<Run> figure) {
        return median(runs.stream().mapToDouble(figure));
    }

    @Override
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        Table table = new Table(
                "Redis us a job", "schedule", "drain", "both", "CPU schedule", "CPU drain", "bytes a job", "p99 ms");
        bySystem(runs)
                .forEach((system, sizes) -> sizes.forEach((pending, all) -> table.row(
                        system + " " + Figures.count(pending) + " pending",
                        Figures.one(of(all, Run::scheduleUsPerJob)),
                        Figures.one(of(all, Run::drainUsPerJob)),
                        Figures.one(of(all, Run::bothUsPerJob)),
                        Figures.one(of(all, Run::scheduleCpuUsPerJob)),
                        Figures.one(of(all, Run::drainCpuUsPerJob)),
                        Figures.one(of(all, Run::bytesPerPendingJob)),
                        Figures.ms(of(all, run -> run.run().latenessMs().p99())))));
        lines.addAll(table.lines());
        ratios.forEach((system, ratio) -> lines.add(String.format(
                Locale.ROOT,
                "%s, %,d / %,d pending: schedule %.2f, drain %.2f, both %.2f",
                system,
                ratio.most(),
                ratio.fewest(),
                ratio.schedule(),
                ratio.drain(),
                ratio.both())));
        for (Run run : runs) {
            run.failures()
                    .forEach(failure ->
                            lines.add("FAILED " + run.system() + " with " + run.pending() + " pending: " + failure));
        }
        return lines;
    }

    @Override
    public HtmlReport page() {
        List<List<Run>> columns = new ArrayList<>();
        List<String> names = new ArrayList<>();
        bySystem(runs)
                .forEach((system, sizes) -> sizes.forEach((pending, all) -> {
                    names.add(system + ", " + Figures.count(pending) + " pending");
                    columns.add(all);
                }));
        PageBuilder page = new PageBuilder(scenario, machine, settings, names)
                .figures(
                        "Redis time of scheduling a job, us",
                        columns,
                        all -> Figures.one(of(all, Run::scheduleUsPerJob)))
                .figures("Redis time of draining a job, us", columns, all -> Figures.one(of(all, Run::drainUsPerJob)))
                .figures("bytes a pending job", columns, all -> Figures.one(of(all, Run::bytesPerPendingJob)))
                .figures(
                        "lateness p99, ms",
                        columns,
                        all -> Figures.ms(of(all, run -> run.run().latenessMs().p99())));
        bySystem(runs).forEach((system, sizes) -> {
            TreeMap<Long, List<Run>> sorted = new TreeMap<>(sizes);
            page.chart(new Chart(
                    "Redis time of a job by jobs that wait",
                    system,
                    "jobs that wait",
                    "us",
                    sorted.keySet().stream().map(Long::doubleValue).toList(),
                    List.of(
                            new Line("schedule", values(sorted, Run::scheduleUsPerJob)),
                            new Line("drain", values(sorted, Run::drainUsPerJob)))));
        });
        return page.build();
    }

    private static List<Double> values(TreeMap<Long, List<Run>> sorted, ToDoubleFunction<Run> figure) {
        return sorted.values().stream().map(all -> (Double) of(all, figure)).toList();
    }

    @Override
    public int exitStatus() {
        return runs.stream()
                        .allMatch(
                                run -> run.failures().isEmpty() || !run.system().equals(Scheduler.MINUTEHAND.label()))
                ? 0
                : 1;
    }
}
