package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.report.Figures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Scenarios that send jobs by a plan and measure how late they start: {@code steady}, {@code burst}, {@code hot-minute}. */
@Command(
        mixinStandardHelpOptions = true,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:no job of minutehand's was lost, early or started twice",
            "1:some job was; the lines FAILED say which",
            "2:the options are wrong",
            "3:a run could not be made"
        })
public final class RateCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Mixin
    private final LabOptions options = new LabOptions();

    private final Arrivals arrivals;

    private RateCommand(Arrivals arrivals) {
        this.arrivals = arrivals;
    }

    /** Jobs due one after the other. */
    public static RateCommand steady() {
        return new RateCommand(Arrivals.STEADY);
    }

    /** Jobs all due on one millisecond. */
    public static RateCommand burst() {
        return new RateCommand(Arrivals.BURST);
    }

    /** Jobs of which half are due in the first second of each minute. */
    public static RateCommand hotMinute() {
        return new RateCommand(Arrivals.HOT_MINUTE);
    }

    private String scenario() {
        return arrivals.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public Integer call() throws Exception {
        options.check(spec);
        Limits.require(spec, !options.findMax || arrivals == Arrivals.STEADY, "--find-max goes with steady only");
        return LabSession.run(
                spec, options.series, LabSession.usualRedis(), options.findMax ? this::findMax : this::measure);
    }

    private LabReport measure(LabSession session) throws IOException, InterruptedException {
        List<List<SystemReport>> turns = new ArrayList<>();
        for (int turn = 0; turn < options.series.runs; turn++) {
            List<SystemReport> reports = new ArrayList<>();
            for (Scheduler scheduler : options.schedulers()) {
                reports.add(session.rateRun(
                        scenario(),
                        options.settings(scheduler, arrivals, turn),
                        scenario() + "-" + Math.round(options.load.rate) + "-" + scheduler.label() + "-" + (turn + 1),
                        "run " + (turn + 1) + " " + scheduler.label(),
                        options.storeRate,
                        options.hdr));
            }
            turns.add(reports);
        }
        return LabReport.of(scenario(), Machine.facts(), options.told(), turns);
    }

    private FindMaxReport findMax(LabSession session) throws IOException, InterruptedException {
        RateSearch search = new RateSearch(options.load.rate, options.steps);
        List<FindMaxReport.Step> steps = new ArrayList<>();
        SystemReport best = null;
        for (Double rate = search.next(); rate != null; rate = search.next()) {
            String shown = Figures.plain(rate);
            SystemReport run = session.rateRun(
                    scenario(),
                    options.settings(rate),
                    scenario() + "-" + shown.replace(",", "") + "-minutehand-1",
                    "step " + (steps.size() + 1) + ": " + shown + " jobs a second",
                    options.storeRate,
                    null);
            FindMaxReport.Step step = FindMaxReport.Step.of(run, options.limitMs);
            session.say(step.line());
            steps.add(step);
            search.found(rate, step.held());
            if (step.held()) {
                best = run;
            }
        }
        Map<String, String> settings = options.told();
        settings.remove("rate");
        settings.remove("jobs");
        settings.put("seconds", Double.toString(options.seconds));
        settings.put("first rate", Figures.plain(options.load.rate));
        return new FindMaxReport(scenario(), Machine.facts(), settings, options.limitMs, search.best(), steps, best);
    }
}
