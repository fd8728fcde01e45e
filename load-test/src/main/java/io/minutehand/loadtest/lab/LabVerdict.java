package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.lab.Trace.Event;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.PackedHistogram;

/**
 * What the traces of all processes say: which jobs were stored, started, lost, started twice or early, and how late the
 * first start of each was against its planned due time, by the clock of Redis. Nothing here comes from the scheduler.
 */
final class LabVerdict {
    private static final int DIGITS = 3;
    private static final long SECOND_US = 1_000_000;
    private static final long MINUTE_US = 60 * SECOND_US;

    private final LabSettings settings;
    private final long firstDueUs;
    private final byte[] sent;
    private final byte[] answers;
    private final byte[] starts;
    private final long[] firstStartUs;
    private final List<Second> seconds = new ArrayList<>();
    private final Histogram lateness = new Histogram(DIGITS);
    private final Histogram atBoundaries = new Histogram(DIGITS);
    private final Histogram elsewhere = new Histogram(DIGITS);

    private long unexpected;
    private long lost;
    private long duplicates;
    private long early;
    private long stored;
    private long refused;
    private long firstSentUs = Long.MAX_VALUE;
    private long lastStoredUs = Long.MIN_VALUE;
    private long latestSentUs;
    private long firstStartedUs = Long.MAX_VALUE;
    private long lastStartedUs = Long.MIN_VALUE;

    /** One second of a run: the lateness of the jobs that were due in it, and how many were stored and started in it. */
    static final class Second {
        final Histogram latenessUs = new PackedHistogram(DIGITS);
        long stored;
        long started;
    }

    private LabVerdict(LabSettings settings, long firstDueUs) {
        this.settings = settings;
        this.firstDueUs = firstDueUs;
        int jobs = Math.toIntExact(settings.jobs());
        this.sent = new byte[jobs];
        this.answers = new byte[jobs];
        this.starts = new byte[jobs];
        this.firstStartUs = new long[jobs];
    }

    /**
     * Reads the traces.
     *
     * @param clockErrorUs how far the clock of a process may have been off: a start that is early by less is not early
     */
    static LabVerdict of(Path directory, LabSettings settings, long firstDueUs, long clockErrorUs) throws IOException {
        LabVerdict verdict = new LabVerdict(settings, firstDueUs);
        Trace.readAll(directory, verdict::take);
        verdict.judge(clockErrorUs);
        return verdict;
    }

    private void take(Event event, long number, long atUs) {
        if (number < 0 || number >= settings.jobs()) {
            unexpected++;
            return;
        }
        int job = (int) number;
        switch (event) {
            case SENT -> {
                sent[job]++;
                firstSentUs = Math.min(firstSentUs, atUs);
                long plannedUs = settings.dueUs(number, firstDueUs) - settings.aheadMs() * 1_000;
                latestSentUs = Math.max(latestSentUs, atUs - plannedUs);
            }
            case STORED -> {
                answers[job] = 1;
                stored++;
                lastStoredUs = Math.max(lastStoredUs, atUs);
                second(atUs).stored++;
            }
            case REFUSED -> {
                answers[job] = 2;
                refused++;
            }
            case STARTED -> {
                starts[job] = (byte) Math.min(Byte.MAX_VALUE, starts[job] + 1);
                if (firstStartUs[job] == 0 || atUs < firstStartUs[job]) {
                    firstStartUs[job] = atUs;
                }
                second(atUs).started++;
            }
        }
    }

    /** The second of a time, from that of the first due time; what lies before belongs to that one. */
    private Second second(long us) {
        int index = (int) Math.max(0, (us - firstDueUs) / SECOND_US);
        while (seconds.size() <= index) {
            seconds.add(new Second());
        }
        return seconds.get(index);
    }

    private void judge(long clockErrorUs) {
        for (int job = 0; job < starts.length; job++) {
            if (starts[job] == 0) {
                lost += answers[job] == 1 ? 1 : 0;
                continue;
            }
            unexpected += sent[job] == 0 ? 1 : 0;
            duplicates += starts[job] - 1;
            long dueUs = settings.dueUs(job, firstDueUs);
            long lateUs = firstStartUs[job] - dueUs;
            early += lateUs + clockErrorUs < 0 ? 1 : 0;
            firstStartedUs = Math.min(firstStartedUs, firstStartUs[job]);
            lastStartedUs = Math.max(lastStartedUs, firstStartUs[job]);
            long countedUs = Math.max(0, lateUs);
            lateness.recordValue(countedUs);
            second(dueUs).latenessUs.recordValue(countedUs);
            long intoMinuteUs = Math.floorMod(dueUs, MINUTE_US);
            boolean near = intoMinuteUs < SECOND_US || intoMinuteUs >= MINUTE_US - SECOND_US;
            (near ? atBoundaries : elsewhere).recordValue(countedUs);
        }
    }

    /** What is wrong, one sentence each. */
    List<String> failures() {
        List<String> failures = new ArrayList<>();
        fail(failures, lost, "jobs were stored and never started");
        fail(failures, duplicates, "starts were repetitions");
        fail(failures, early, "jobs started early");
        fail(failures, unexpected, "events belong to no job that was sent");
        fail(failures, settings.jobs() - sent(), "jobs were not sent");
        fail(failures, sent() - stored, "jobs were not stored");
        if (settings.storesFirst() && !wasStoredFirst()) {
            failures.add("the last job was stored after the first was due: choose a lower --store-rate");
        }
        return failures;
    }

    private static void fail(List<String> failures, long count, String what) {
        if (count != 0) {
            failures.add(count + " " + what);
        }
    }

    long sent() {
        long count = 0;
        for (byte each : sent) {
            count += each;
        }
        return count;
    }

    long stored() {
        return stored;
    }

    long refused() {
        return refused;
    }

    /** Jobs that were started, once or more. */
    long started() {
        return lateness.getTotalCount();
    }

    long lost() {
        return lost;
    }

    /** Starts beyond the first of each job. */
    long duplicates() {
        return duplicates;
    }

    long early() {
        return early;
    }

    /** Events of jobs that do not exist, and started jobs that were never sent. */
    long unexpected() {
        return unexpected;
    }

    /** Lateness of first starts, microseconds. */
    Histogram latenessUs() {
        return lateness;
    }

    /** Of those due within a second of a minute's boundary. */
    Histogram atBoundariesUs() {
        return atBoundaries;
    }

    Histogram elsewhereUs() {
        return elsewhere;
    }

    /** By second from the first due time. */
    List<Second> seconds() {
        return seconds;
    }

    /** How late the sending of a job was at most, against the plan; of no meaning if all were stored first. */
    double latestSentMs() {
        return latestSentUs / 1e3;
    }

    /** Whether the last job was stored before the first was due. */
    boolean wasStoredFirst() {
        return lastStoredUs < firstDueUs;
    }

    double storedPerSecond() {
        return perSecond(stored, lastStoredUs - firstSentUs);
    }

    double startedPerSecond() {
        return perSecond(started(), lastStartedUs - firstStartedUs);
    }

    private static double perSecond(long count, long us) {
        return us <= 0 ? 0 : count * (double) TimeUnit.SECONDS.toMicros(1) / us;
    }

    /** From the first call, or the first due time, to the last start. */
    double seconds(boolean fromFirstDue) {
        return Math.max(0, lastStartedUs - (fromFirstDue ? firstDueUs : firstSentUs)) / 1e6;
    }
}
