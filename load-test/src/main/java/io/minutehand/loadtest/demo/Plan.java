package io.minutehand.loadtest.demo;

import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Which jobs a run has, when each is due and when it is handed to the router. The same options give the same plan.
 *
 * <p>Open loop: job i is due i / rate seconds after the first, whatever became of the jobs before it. Each is scheduled
 * some seconds ahead, by a time that its number decides; what would have to be scheduled before the run begins is
 * scheduled at once, but not in one burst.
 */
final class Plan {
    /** Most jobs of a run: what the memory of one process holds of them at the end. Fewer than 2^24, for the packed order. */
    static final int MOST_JOBS = 1_000_000;

    /** Between the first schedule call and the first due time. */
    static final long LEAD_IN_US = 3_000_000;

    /** The shortest time that a job is scheduled ahead, unless less is asked for. */
    private static final long SHORTEST_AHEAD_US = 2_000_000;

    /** Schedule calls a second while the run catches up with its plan; twice the rate if that is more. */
    private static final long CATCH_UP_PER_SECOND = 5_000;

    private static final int NUMBER_BITS = 24;

    private final int jobs;
    private final double rate;
    private final List<DemoTopic> mix;
    private final long aheadUs;
    /** Time to schedule at, microseconds after the first call, then the job's number in the low bits; ascending. */
    private final long[] order;

    /**
     * Makes a plan.
     *
     * @param jobs how many, at most {@link #MOST_JOBS}
     * @param rate jobs due in a second
     * @param aheadUs the longest time that a job is scheduled ahead
     */
    Plan(int jobs, double rate, long aheadUs, Set<DemoTopic> topics) {
        this.jobs = jobs;
        this.rate = rate;
        this.aheadUs = aheadUs;
        this.mix = DemoTopic.mix(topics);
        this.order = new long[jobs];
        for (int number = 0; number < jobs; number++) {
            long atUs = Math.max(0, dueUs(number) - aheadUs(number));
            order[number] = atUs << NUMBER_BITS | number;
        }
        Arrays.sort(order);
        long stepUs = (long) (1e6 / Math.max(CATCH_UP_PER_SECOND, 2 * rate));
        long freeUs = 0;
        for (int i = 0; i < jobs; i++) {
            long atUs = Math.max(order[i] >>> NUMBER_BITS, freeUs);
            order[i] = atUs << NUMBER_BITS | number(i);
            freeUs = atUs + stepUs;
        }
    }

    int jobs() {
        return jobs;
    }

    /** Returns the number of the job that is scheduled as the i-th. */
    int number(int i) {
        return (int) (order[i] & ((1 << NUMBER_BITS) - 1));
    }

    /** Returns when the i-th schedule call is made, microseconds after the first. */
    long scheduleAtUs(int i) {
        return order[i] >>> NUMBER_BITS;
    }

    /** Returns when job {@code number} is due, microseconds after the first call; whole milliseconds. */
    long dueUs(int number) {
        return LEAD_IN_US + (long) (number * 1_000.0 / rate) * 1_000;
    }

    /** Returns the topic of job {@code number}. */
    DemoTopic topic(int number) {
        return mix.get(number % mix.size());
    }

    /** Returns the id of job {@code number}. */
    String id(int number) {
        return topic(number).id(number);
    }

    private long aheadUs(int number) {
        long shortestUs = Math.min(SHORTEST_AHEAD_US, aheadUs);
        return shortestUs + Math.floorMod(Dice.roll(number, 1), aheadUs - shortestUs + 1);
    }
}
