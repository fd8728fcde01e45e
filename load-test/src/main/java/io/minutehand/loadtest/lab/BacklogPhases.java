package io.minutehand.loadtest.lab;

import org.jspecify.annotations.Nullable;

/** What Redis spent on scripts, and in all, in each phase of a backlog run. For one thread. */
final class BacklogPhases implements LabRun.Observer {
    private final Mark[] marks = new Mark[Point.values().length];

    private enum Point {
        BEGIN,
        STORED,
        DUE,
        END
    }

    private record Mark(long atNs, RedisMeter.Cost scripts, double cpuUs, boolean due) {
        static Mark of(LabRun run) {
            return new Mark(
                    System.nanoTime(), run.meter().scripts(), run.meter().cpuUs(), run.isDue());
        }
    }

    /** From one moment to another: microseconds of scripts, of CPU, and how long it lasted, s. */
    record Spent(double scriptUs, double cpuUs, double seconds) {
        /** What is left without what Redis does at any time. */
        Spent without(Spent idle) {
            double share = seconds / idle.seconds;
            return new Spent(scriptUs - idle.scriptUs * share, cpuUs - idle.cpuUs * share, seconds);
        }
    }

    @Override
    public void begins(LabRun run) {
        mark(Point.BEGIN, Mark.of(run));
    }

    @Override
    public void stored(LabRun run) {
        mark(Point.STORED, Mark.of(run));
    }

    @Override
    public void looks(LabRun run) {
        if (marks[Point.DUE.ordinal()] == null && run.isDue()) {
            mark(Point.DUE, Mark.of(run));
        }
    }

    @Override
    public void ends(LabRun run) {
        mark(Point.END, Mark.of(run));
    }

    private void mark(Point point, Mark mark) {
        marks[point.ordinal()] = mark;
    }

    /** What is wrong with the phases; null if they were apart. */
    @Nullable
    String problem() {
        Mark stored = marks[Point.STORED.ordinal()];
        return stored == null || stored.due()
                ? "the last job was stored after the first was due: choose a lower --rate"
                : null;
    }

    Spent storing() {
        return between(Point.BEGIN, Point.STORED).without(idle());
    }

    /** Between the last job that was sent and the first that was due. */
    Spent idle() {
        return between(Point.STORED, Point.DUE);
    }

    Spent draining() {
        return between(Point.DUE, Point.END).without(idle());
    }

    private Spent between(Point from, Point to) {
        Mark first = marks[from.ordinal()];
        Mark last = marks[to.ordinal()];
        if (first == null || last == null) {
            throw new IllegalStateException("the run did not come to " + to);
        }
        return new Spent(
                last.scripts().minus(first.scripts()).us(),
                last.cpuUs() - first.cpuUs(),
                (last.atNs() - first.atNs()) / 1e9);
    }
}
