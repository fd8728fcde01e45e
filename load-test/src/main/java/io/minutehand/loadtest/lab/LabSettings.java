package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.fleet.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What one scheduler is measured with, in all processes of its run alike: the file carries it over. Immutable.
 *
 * @param jobs measured
 * @param warmupJobs before them, due at the same rate, in no figure
 * @param rate jobs due in a second
 * @param aheadMs how long before its due time a job is scheduled; 0 = all are stored before the first is due
 * @param payloadBytes 16 or more
 * @param slots handlers at once in a worker
 * @param planted what is done wrong on purpose, for tests of the lab itself
 * @param collectEveryMs how often each process collects its whole heap, so that what is left can be compared; 0 = when it
 *     likes
 */
@JsonAutoDetect(
        getterVisibility = JsonAutoDetect.Visibility.NONE,
        isGetterVisibility = JsonAutoDetect.Visibility.NONE,
        fieldVisibility = JsonAutoDetect.Visibility.ANY)
record LabSettings(
        Scheduler scheduler,
        String namespace,
        Arrivals arrivals,
        long jobs,
        long warmupJobs,
        double rate,
        long aheadMs,
        int payloadBytes,
        int workers,
        int producers,
        int shards,
        int slots,
        Planted planted,
        long collectEveryMs) {
    /** A defect in what is measured, or in the measuring. */
    enum Planted {
        NONE,
        /** Each handler starts 5 ms late. */
        DELAY,
        /** One job in a thousand is never started. */
        LOSS,
        /** One job in a thousand is started twice. */
        DUPLICATE,
        /** Workers keep 64 KiB of each job that they start. */
        LEAK,
        /** Producers stand still for a while in the middle. */
        STALL
    }

    /** Up to this rate, jobs a second, two cores are not busy, and a JVM that goes on compiling only disturbs the others. */
    private static final double LITTLE_COMPILED_RATE = 10_000;

    /** The warm-up does not wait as long as measured jobs may. */
    private static final long LONGEST_WARMUP_AHEAD_MS = 2_000;

    private static final String FILE = "lab.json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** How processes compile that send and start jobs at this rate: above, it is the work itself that is short of processor time. */
    static WorkerProcess.Compiler compiler(double rate) {
        return rate > LITTLE_COMPILED_RATE ? WorkerProcess.Compiler.FULLY : WorkerProcess.Compiler.SOON;
    }

    /** Whether all jobs are stored before the first is due. */
    boolean storesFirst() {
        return aheadMs == 0;
    }

    /** As {@link #aheadMs}, for a job of the warm-up. */
    long warmupAheadMs() {
        return Math.min(aheadMs, LONGEST_WARMUP_AHEAD_MS);
    }

    /** The same jobs, due in another way. */
    LabSettings with(Arrivals other) {
        return with(other, payloadBytes, collectEveryMs);
    }

    /** The same jobs, of another size. */
    LabSettings withPayload(int bytes) {
        return with(arrivals, bytes, collectEveryMs);
    }

    /** The same, with collections of the whole heap every so often. */
    LabSettings collecting(long everyMs) {
        return with(arrivals, payloadBytes, everyMs);
    }

    private LabSettings with(Arrivals due, int bytes, long everyMs) {
        return new LabSettings(
                scheduler,
                namespace,
                due,
                jobs,
                warmupJobs,
                rate,
                aheadMs,
                bytes,
                workers,
                producers,
                shards,
                slots,
                planted,
                everyMs);
    }

    /** When a measured job is due, epoch microseconds, whole milliseconds. */
    long dueUs(long number, long firstDueUs) {
        return (firstDueUs + arrivals.offsetUs(number, rate)) / 1_000 * 1_000;
    }

    Scheduler.Target target(String redis) {
        return new Scheduler.Target(redis, namespace, shards, slots);
    }

    void write(Path directory) throws IOException {
        MAPPER.writeValue(directory.resolve(FILE).toFile(), this);
    }

    static LabSettings read(Path directory) throws IOException {
        return MAPPER.readValue(directory.resolve(FILE).toFile(), LabSettings.class);
    }
}
