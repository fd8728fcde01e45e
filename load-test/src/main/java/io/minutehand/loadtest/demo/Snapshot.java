package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.WorkerLine;
import java.util.List;

/**
 * What there is to show at one moment.
 *
 * @param redis which Redis it runs on
 * @param setup what was asked for, in one line
 * @param phase what the demo is doing
 * @param seconds since the first job was due; negative before
 * @param jobs measured jobs in all
 * @param progress counts and lateness so far
 * @param nodes the workers in the order of their start
 * @param events what happened to them, oldest first
 */
record Snapshot(
        String redis,
        String setup,
        Phase phase,
        double seconds,
        long jobs,
        Progress progress,
        List<Node> nodes,
        List<String> events) {

    /** What a demo does, one after the other. */
    enum Phase {
        STARTING("starting"),
        WARMING_UP("warm-up"),
        RUNNING("running"),
        DRAINING("draining"),
        STOPPING("stopping");

        private final String word;

        Phase(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /** Returns how many workers are up. */
    long nodesUp() {
        return nodes.stream().filter(node -> node.state().equals(Node.UP)).count();
    }

    /**
     * A worker.
     *
     * @param state a word such as {@code up} or {@code killed}
     */
    record Node(String name, long pid, String state, WorkerLine.Status status) {
        static final String UP = Fleet.UP;
    }
}
