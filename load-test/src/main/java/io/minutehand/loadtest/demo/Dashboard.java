package io.minutehand.loadtest.demo;

import static io.minutehand.loadtest.report.Figures.count;
import static io.minutehand.loadtest.report.Figures.ms;
import static io.minutehand.loadtest.report.Figures.percent;

import io.minutehand.loadtest.check.Lateness;
import io.minutehand.loadtest.report.Figures;
import io.minutehand.loadtest.report.Table;
import java.util.ArrayList;
import java.util.List;

/** Draws the screen of the demo: 80 columns, and as many lines as it needs up to the height of the terminal. */
final class Dashboard {
    /** Columns that it needs. */
    static final int COLUMNS = 80;

    private static final int BAR = 48;

    private static final String RESET = "\u001b[0m";
    private static final String BOLD = "\u001b[1m";
    private static final String DIM = "\u001b[2m";
    private static final String GREEN = "\u001b[32m";
    private static final String RED = "\u001b[31m";
    private static final String YELLOW = "\u001b[33m";

    private final int height;
    private final boolean colour;
    private final boolean unicode;

    /**
     * Draws for a terminal.
     *
     * @param height its lines
     * @param colour whether it may be coloured
     * @param unicode whether it shows block characters
     */
    Dashboard(int height, boolean colour, boolean unicode) {
        this.height = height;
        this.colour = colour;
        this.unicode = unicode;
    }

    /** Returns the lines of the screen. */
    List<String> lines(Snapshot snapshot) {
        List<String> lines = new ArrayList<>();
        lines.add(painted(BOLD, "Minutehand demo") + "   " + snapshot.setup());
        lines.add(painted(DIM, snapshot.redis()));
        lines.add("");
        progress(snapshot, lines);
        lines.add("");
        topics(snapshot, lines);
        lines.add("");
        nodes(snapshot, lines);
        events(snapshot, lines);
        return lines;
    }

    private void progress(Snapshot snapshot, List<String> lines) {
        Progress progress = snapshot.progress();
        Snapshot.Phase phase = snapshot.phase();
        long all = snapshot.jobs();
        long ended = progress.ended();
        if (phase == Snapshot.Phase.STARTING) {
            all = snapshot.nodes().size();
            ended = snapshot.nodesUp();
        } else if (phase == Snapshot.Phase.WARMING_UP) {
            all = DemoOptions.WARMUP_JOBS;
            ended = progress.warmupEnded();
        }
        double share = all == 0 ? 0 : Math.min(1.0, (double) ended / all);
        int full = (int) Math.round(share * BAR);
        String clock = snapshot.seconds() < 0 ? "" : Figures.one(snapshot.seconds()) + " s";
        lines.add(painted(GREEN, (unicode ? "█" : "#").repeat(full))
                + painted(DIM, (unicode ? "░" : "-").repeat(BAR - full))
                + String.format(" %7s  %-9s %8s", percent(share), phase.word(), clock));
        switch (phase) {
            case STARTING -> lines.add(count(ended) + " of " + count(all) + " worker processes are up");
            case WARMING_UP -> lines.add(count(ended) + " of " + count(all) + " warm-up jobs, which are in no figure");
            case RUNNING, DRAINING, STOPPING ->
                lines.add("scheduled " + count(progress.total().accepted()) + "   ended " + count(ended) + " of "
                        + count(all));
        }
    }

    private void topics(Snapshot snapshot, List<String> lines) {
        Table table = new Table("topic", "scheduled", "done", "retried", "dead", "p50 ms", "p99 ms", "max ms");
        snapshot.progress().topics().forEach((name, row) -> addRow(table, name, row));
        addRow(table, "all", snapshot.progress().total());
        addTable(table, lines);
    }

    private static void addRow(Table table, String name, Progress.Row row) {
        Lateness late = row.lateness();
        table.row(
                name,
                count(row.accepted()),
                count(row.done()),
                count(row.retried()),
                count(row.dead()),
                ms(late.p50()),
                ms(late.p99()),
                ms(late.max()));
    }

    private void nodes(Snapshot snapshot, List<String> lines) {
        Table table =
                new Table("node", "pid", "state", "held", "busy", "started", "share", "p50 ms", "p99 ms", "max ms");
        double all = Math.max(1, snapshot.progress().total().started());
        // What is above the table, its heading and the newest event need room too.
        int room = Math.max(3, height - lines.size() - 5);
        int hidden = snapshot.nodes().size() <= room ? 0 : snapshot.nodes().size() - room;
        for (Snapshot.Node node : snapshot.nodes().subList(0, snapshot.nodes().size() - hidden)) {
            Progress.Row row = snapshot.progress().node(node.name());
            Lateness late = row.lateness();
            boolean up = node.state().equals(Snapshot.Node.UP);
            table.row(
                    node.name(),
                    Long.toString(node.pid()),
                    node.state(),
                    up ? count(node.status().held()) : "-",
                    up ? count(node.status().running()) : "-",
                    count(row.started()),
                    percent(row.started() / all),
                    ms(late.p50()),
                    ms(late.p99()),
                    ms(late.max()));
        }
        int heading = lines.size();
        addTable(table, lines);
        for (int i = heading + 1; i < lines.size(); i++) {
            String state = snapshot.nodes().get(i - heading - 1).state();
            if (!state.equals(Snapshot.Node.UP) && snapshot.phase() != Snapshot.Phase.STOPPING) {
                lines.set(i, painted(state.equals("starting") ? YELLOW : RED, lines.get(i)));
            }
        }
        if (hidden > 0) {
            lines.add(painted(DIM, "and " + hidden + " more"));
        }
    }

    private void events(Snapshot snapshot, List<String> lines) {
        int room = height - lines.size() - 2;
        List<String> events = snapshot.events();
        if (events.isEmpty() || room < 1) {
            return;
        }
        lines.add("");
        lines.addAll(events.subList(Math.max(0, events.size() - room), events.size()));
    }

    private void addTable(Table table, List<String> lines) {
        List<String> rows = table.lines();
        lines.add(painted(DIM, rows.get(0)));
        lines.addAll(rows.subList(1, rows.size()));
    }

    private String painted(String paint, String text) {
        return colour ? paint + text + RESET : text;
    }
}
