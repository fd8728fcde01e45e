package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.baseline.Scheduler;
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
        Planted planted) {
    /** A defect in what is measured, or in the measuring. */
    enum Planted {
        NONE,
        /** Each handler starts 5 ms late. */
        DELAY,
        /** One job in a thousand is never started. */
        LOSS,
        /** One job in a thousand is started twice. */
        DUPLICATE,
        /** Producers stand still for a while in the middle. */
        STALL
    }

    private static final String FILE = "lab.json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Whether all jobs are stored before the first is due. */
    boolean storesFirst() {
        return aheadMs == 0;
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
