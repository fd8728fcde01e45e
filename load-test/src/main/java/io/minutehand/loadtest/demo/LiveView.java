package io.minutehand.loadtest.demo;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** One screen that refreshes, on the alternate screen of the terminal, so that what was there before comes back. */
final class LiveView implements View {
    private static final String ESC = "\u001b[";
    private static final String ENTER = ESC + "?1049h" + ESC + "?25l" + ESC + "2J";
    private static final String LEAVE = ESC + "?25h" + ESC + "?1049l";
    private static final String HOME = ESC + "H";
    private static final String CLEAR_LINE = ESC + "K";
    private static final String CLEAR_BELOW = ESC + "J";

    /** Lines that the demo says before its screen comes up stay below the heading until then. */
    private final List<String> said = new ArrayList<>();

    private final PrintStream out;
    private final Dashboard dashboard;
    private final AtomicBoolean entered = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();

    LiveView(PrintStream out, Dashboard dashboard) {
        this.out = out;
        this.dashboard = dashboard;
    }

    @Override
    public void say(String line) {
        if (entered.get() && !ended.get()) {
            said.add(line);
        } else {
            out.println(line);
        }
    }

    @Override
    public void show(Snapshot snapshot) {
        if (ended.get()) {
            return;
        }
        StringBuilder screen = new StringBuilder(4096);
        if (entered.compareAndSet(false, true)) {
            screen.append(ENTER);
        }
        screen.append(HOME);
        for (String line : dashboard.lines(snapshot)) {
            screen.append(line).append(CLEAR_LINE).append('\n');
        }
        screen.append(CLEAR_BELOW);
        // In one piece: a screen that arrives in parts flickers.
        out.print(screen);
        out.flush();
    }

    @Override
    public void end() {
        if (ended.compareAndSet(false, true)) {
            if (entered.get()) {
                out.print(LEAVE);
            }
            said.forEach(out::println);
            out.flush();
        }
    }
}
