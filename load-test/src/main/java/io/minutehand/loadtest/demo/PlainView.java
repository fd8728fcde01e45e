package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.check.Lateness;
import java.io.PrintStream;
import java.util.Locale;

/** Lines, one every few seconds: for pipes, logs and CI. */
final class PlainView implements View {
    private static final long PAUSE_NS = 2_000_000_000L;

    private final PrintStream out;
    private long lastNs;
    private boolean shown;
    private String phase = "";
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
        if (shown && nowNs - lastNs < PAUSE_NS && snapshot.phase().equals(phase)) {
            return;
        }
        shown = true;
        lastNs = nowNs;
        phase = snapshot.phase();
        out.println(line(snapshot));
        out.flush();
    }

    static String line(Snapshot snapshot) {
        Progress.Row total = snapshot.progress().total();
        Lateness late = total.lateness();
        long up = snapshot.nodes().stream()
                .filter(node -> node.state().equals(Snapshot.Node.UP))
                .count();
        return String.format(
                Locale.ROOT,
                "%6.1f s  %-9s  scheduled %d  started %d  done %d  dead %d of %d  late ms p50 %.2f p99 %.2f max %.2f  nodes %d",
                snapshot.seconds(),
                snapshot.phase(),
                total.accepted(),
                total.started(),
                total.done(),
                total.dead(),
                snapshot.jobs(),
                late.p50(),
                late.p99(),
                late.max(),
                up);
    }

    @Override
    public void end() {
        out.flush();
    }
}
