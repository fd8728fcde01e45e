package io.minutehand.worker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that were handed out before without an answer: one of them may be what ended its node, so they run one at a time, and only one is lost
 * with the node that it ends. Those in line hold no slot. Only the node's thread touches this.
 */
final class Suspects {
    private final int most;
    private final Predicate<TopicWork> takeSlot;
    private final Consumer<Running> start;
    private final Consumer<Shard> wake;
    private final Set<Shard> hungry = new LinkedHashSet<>();
    private final Set<Running> waiting = new LinkedHashSet<>();
    private @Nullable Running running;
    private int expected;

    /**
     * An empty line.
     *
     * @param most jobs in line, at most
     * @param takeSlot takes a slot for a job of a topic if there is one
     * @param start starts a job that has its slot
     * @param wake called for a shard that found no place and could have some now
     */
    Suspects(int most, Predicate<TopicWork> takeSlot, Consumer<Running> start, Consumer<Shard> wake) {
        this.most = most;
        this.takeSlot = takeSlot;
        this.start = start;
        this.wake = wake;
    }

    /**
     * Keeps up to {@code limit} places for jobs that a shard asks for, and at most half of those left, since other shards ask in the same
     * moment; {@link #came} must follow. A shard that gets none is told when there are some.
     */
    int expect(Shard shard, int limit) {
        int granted = Math.max(0, Math.min(limit, (room() + 1) / 2));
        if (granted == 0) {
            hungry.add(shard);
        }
        expected += granted;
        return granted;
    }

    /** The jobs for which places were kept have been added, or did not come. */
    void came(int granted) {
        expected -= granted;
        feed();
    }

    private int room() {
        return most - waiting.size() - expected;
    }

    /** Not for each place that gets free: taking jobs over one by one would cost a call each. */
    private void feed() {
        if (!hungry.isEmpty() && room() >= Math.max(1, most / 2)) {
            List<Shard> told = List.copyOf(hungry);
            hungry.clear();
            told.forEach(wake);
        }
    }

    void add(Running job) {
        waiting.add(job);
    }

    /** Starts the next one, if it is its turn and a slot is free. */
    void next() {
        if (running != null) {
            return;
        }
        for (Iterator<Running> line = waiting.iterator(); line.hasNext(); ) {
            Running job = line.next();
            if (takeSlot.test(job.shard().topic())) {
                line.remove();
                job.slotted = true;
                running = job;
                start.accept(job);
                feed();
                return;
            }
        }
    }

    /** A job has ended, whether it was one of these or not; {@link #next} is the caller's to call. */
    void ended(Running job) {
        if (running == job) {
            running = null;
        }
    }

    /** Takes a job out of the line; false when it was not in it. */
    boolean remove(Running job) {
        return waiting.remove(job);
    }

    /** Empties the line. */
    List<Running> clear() {
        List<Running> all = new ArrayList<>(waiting);
        waiting.clear();
        return all;
    }

    int waiting() {
        return waiting.size();
    }
}
