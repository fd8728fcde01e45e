package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.check.Lateness;
import java.io.PrintStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Lines, one every few seconds: for pipes, logs and CI. */
final class PlainView implements View {
    private static final long PAUSE_NS = 2_000_000_000L;

    private final PrintStream out;
    private long lastNs;
    private boolean shown;
    private Snapshot.@Nullable Phase phase;
    private int events;

    PlainView(PrintStream out) {
        this.out = out;
    }

    @Override
    public void say(String line) {
        out.println(line);
    }

    @Override
    public void show(Snapshot snapshot) {
        for (; events < snapshot.events().size(); events++) {
            out.println(snapshot.events().get(events));
        }
        long nowNs = System.nanoTime();
        if (shown && nowNs - lastNs < PAUSE_NS && snapshot.phase() == phase) {
            return;
        }
        shown = true;
        lastNs = nowNs;
        phase = snapshot.phase();
        out.println(line(snapshot));
        out.flush();
    }

    private static String line(Snapshot snapshot) {
        Progress progress = snapshot.progress();
        return switch (snapshot.phase()) {
            case STARTING ->
                "starting: " + snapshot.nodesUp() + " of " + snapshot.nodes().size() + " workers are up";
            case WARMING_UP ->
                "warm-up: " + progress.warmupEnded() + " of " + DemoOptions.WARMUP_JOBS + " jobs, nodes "
                        + snapshot.nodesUp();
            case RUNNING, DRAINING, STOPPING -> figures(snapshot);
        };
    }

    private static String figures(Snapshot snapshot) {
        Progress.Row total = snapshot.progress().total();
        Lateness late = total.lateness();
        return String.format(
                Locale.ROOT,
                "%6.1f s  %-8s  scheduled %d  done %d  dead %d of %d  late ms p50 %.2f p99 %.2f max %.2f  nodes %d",
                snapshot.seconds(),
                snapshot.phase().word(),
                total.accepted(),
                total.done(),
                total.dead(),
                snapshot.jobs(),
                late.p50(),
                late.p99(),
                late.max(),
                snapshot.nodesUp());
    }

    @Override
    public void end() {
        out.flush();
    }
}
