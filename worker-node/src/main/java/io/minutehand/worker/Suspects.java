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
 * Jobs that were handed out before without an answer: one of them may be what ended its node, so they run one at a time, the next when Redis
 * knows how the one before ended.
 *
 * <p>A node also takes them over one at a time. Each handout counts as a delivery, and too many make a dead letter: jobs that only waited here when
 * the node ended would be condemned with the one that ended it. Those that a pop brings wait in line, without a slot. Only the node's thread
 * touches this.
 */
final class Suspects {
    private final Predicate<TopicWork> takeSlot;
    private final Consumer<Running> start;
    private final Consumer<Shard> wake;
    private final Set<Shard> hungry = new LinkedHashSet<>();
    private final Set<Running> waiting = new LinkedHashSet<>();
    private @Nullable Running running;
    private boolean expected;

    /**
     * Nobody runs, nobody waits.
     *
     * @param takeSlot takes a slot for a job of a topic if there is one
     * @param start starts a job that has its slot
     * @param wake called for a shard that could not take a job over, when it could
     */
    Suspects(Predicate<TopicWork> takeSlot, Consumer<Running> start, Consumer<Shard> wake) {
        this.takeSlot = takeSlot;
        this.start = start;
        this.wake = wake;
    }

    /**
     * Keeps the place for a job that a shard is about to take over; {@link #came} must follow. False when it is taken: the shard is told
     * when it is free.
     */
    boolean expect(Shard shard) {
        if (!isFree()) {
            hungry.add(shard);
            return false;
        }
        expected = true;
        return true;
    }

    /** The job for which the place was kept has been added, or did not come. */
    void came() {
        expected = false;
        feed();
    }

    private boolean isFree() {
        return running == null && waiting.isEmpty() && !expected;
    }

    private void feed() {
        while (isFree() && !hungry.isEmpty()) {
            Shard next = hungry.iterator().next();
            hungry.remove(next);
            wake.accept(next);
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
                return;
            }
        }
        feed();
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
