package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.loadtest.baseline.Scheduler;
import io.minutehand.loadtest.lab.LabSettings.Planted;
import io.minutehand.loadtest.lab.Trace.Event;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LabVerdictTest {
    private static final long FIRST_DUE_US = 1_796_000_030_000_000L;
    private static final int JOBS = 100;
    private static final long AHEAD_MS = 400;
    private static final long CLOCK_ERROR_US = 300;

    @TempDir
    private Path directory;

    private final LabSettings settings = new LabSettings(
            Scheduler.MINUTEHAND, "mh", Arrivals.STEADY, JOBS, 0, 50, AHEAD_MS, 100, 3, 1, 8, 64, Planted.NONE, 0);
    private Trace producer;
    private Trace worker;

    @BeforeEach
    void open() throws IOException {
        producer = Trace.create(directory, "producer-0");
        worker = Trace.create(directory, "node-1");
    }

    @AfterEach
    void close() throws IOException {
        producer.close();
        worker.close();
    }

    private long dueUs(long number) {
        return settings.dueUs(number, FIRST_DUE_US);
    }

    private void sentAndStored(long number) {
        producer.note(Event.SENT, number, dueUs(number) - 1_000 * AHEAD_MS);
        producer.note(Event.STORED, number, dueUs(number) - 1_000 * AHEAD_MS + 900);
    }

    private void startedLateBy(long number, long us) {
        worker.note(Event.STARTED, number, dueUs(number) + us);
    }

    private void allButOne(int one) {
        for (int number = 0; number < JOBS; number++) {
            if (number != one) {
                sentAndStored(number);
                startedLateBy(number, 1_000 + number);
            }
        }
    }

    private LabVerdict verdict() throws IOException {
        producer.flush();
        worker.flush();
        return LabVerdict.of(directory, settings, FIRST_DUE_US, CLOCK_ERROR_US);
    }

    @Test
    void shouldFindNothingWrongWithARunThatIsRight() throws IOException {
        allButOne(-1);
        LabVerdict verdict = verdict();

        assertThat(verdict.sent()).isEqualTo(JOBS);
        assertThat(verdict.stored()).isEqualTo(JOBS);
        assertThat(verdict.started()).isEqualTo(JOBS);
        assertThat(verdict.lost() + verdict.duplicates() + verdict.early() + verdict.unexpected() + verdict.refused())
                .isZero();
        assertThat(SystemReport.ms(verdict.latenessUs(), 50)).isBetween(1.04, 1.06);
        assertThat(verdict.latenessUs().getMaxValue()).isBetween(1_099L, 1_100L);
        assertThat(verdict.latestSentMs()).isZero();
        assertThat(verdict.wasStoredFirst()).isFalse();
    }

    @Test
    void shouldFindALostJob() throws IOException {
        allButOne(7);
        sentAndStored(7);

        assertThat(verdict().lost()).isEqualTo(1);
    }

    @Test
    void shouldNotCallAJobLostThatWasRefused() throws IOException {
        allButOne(7);
        producer.note(Event.SENT, 7, dueUs(7));
        producer.note(Event.REFUSED, 7, dueUs(7));
        LabVerdict verdict = verdict();

        assertThat(verdict.lost()).isZero();
        assertThat(verdict.refused()).isEqualTo(1);
    }

    @Test
    void shouldCountTheFirstStartOfAJobThatWasStartedTwice() throws IOException {
        allButOne(7);
        sentAndStored(7);
        startedLateBy(7, 900_000);
        startedLateBy(7, 2_000);
        LabVerdict verdict = verdict();

        assertThat(verdict.duplicates()).isEqualTo(1);
        assertThat(verdict.started()).isEqualTo(JOBS);
        assertThat(verdict.latenessUs().getMaxValue()).isLessThan(3_000);
    }

    @Test
    void shouldFindAnEarlyStartBeyondTheErrorOfTheClock() throws IOException {
        allButOne(7);
        sentAndStored(7);
        startedLateBy(7, -CLOCK_ERROR_US - 1);

        assertThat(verdict().early()).isEqualTo(1);
    }

    @Test
    void shouldNotCallAStartEarlyWithinTheErrorOfTheClock() throws IOException {
        allButOne(7);
        sentAndStored(7);
        startedLateBy(7, -CLOCK_ERROR_US);

        assertThat(verdict().early()).isZero();
    }

    @Test
    void shouldCountThePlanWhenTheSenderIsLate() throws IOException {
        allButOne(7);
        producer.note(Event.SENT, 7, dueUs(7) + 500_000);
        producer.note(Event.STORED, 7, dueUs(7) + 501_000);
        startedLateBy(7, 502_000);
        LabVerdict verdict = verdict();

        assertThat(verdict.latestSentMs()).isEqualTo(500 + AHEAD_MS);
        assertThat(verdict.latenessUs().getMaxValue()).isGreaterThan(500_000);
    }

    @Test
    void shouldFindWhatWasNeverSent() throws IOException {
        allButOne(7);
        startedLateBy(7, 0);
        startedLateBy(JOBS + 5, 0);

        assertThat(verdict().unexpected()).isEqualTo(2);
    }

    @Test
    void shouldPutEachJobIntoTheSecondInWhichItWasDue() throws IOException {
        for (int number = 0; number < JOBS; number++) {
            sentAndStored(number);
            // The second half of the jobs, due in the second second, starts a second late.
            startedLateBy(number, number < 50 ? 1_000 : 1_001_000);
        }
        LabVerdict verdict = verdict();

        assertThat(verdict.seconds().get(0).latenessUs.getTotalCount()).isEqualTo(50);
        assertThat(verdict.seconds().get(0).started).isEqualTo(50);
        assertThat(verdict.seconds().get(1).latenessUs.getMaxValue()).isGreaterThan(1_000_000);
        assertThat(verdict.seconds().get(1).started).isZero();
        assertThat(verdict.seconds().get(2).started).isEqualTo(50);
    }

    @Test
    void shouldRefuseAFileThatEndsWithinAnEvent() throws IOException {
        allButOne(-1);
        verdict();
        Files.write(directory.resolve("node-1.trace"), new byte[5], StandardOpenOption.APPEND);

        assertThatThrownBy(() -> LabVerdict.of(directory, settings, FIRST_DUE_US, 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("node-1.trace")
                .hasMessageContaining("within an event");
    }
}
