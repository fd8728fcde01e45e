package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.minutehand.loadtest.lab.LabSettings.Planted;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The lab itself: what is wrong on purpose must stand in the report, and what is right must not. */
@Tag("faults")
class LabFaultsIT {
    private static final int JOBS = 1_500;

    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    private JsonNode run(Planted planted, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("--rate=500", "--jobs=" + JOBS, "--warmup=300", "--ahead=500", "--planted=" + planted));
        arguments.addAll(List.of(more));
        return bench.run(RateCommand.steady(), arguments.toArray(String[]::new));
    }

    @Test
    void shouldPassARunThatIsRightAndWriteAllItsFigures() throws IOException {
        JsonNode report =
                run(Planted.NONE, "--hdr=" + directory.resolve("hdr"), "--html=" + directory.resolve("report.html"));
        JsonNode run = report.get("runs").get(0);

        assertThat(bench.status()).as(bench.out()).isZero();
        assertThat(List.of("lost", "duplicates", "early", "dead", "refused", "unexpected"))
                .allMatch(name -> run.get(name).asLong() == 0);
        assertThat(List.of("jobs", "scheduled", "started", "done"))
                .allMatch(name -> run.get(name).asLong() == JOBS);
        assertThat(run.get("latenessMs").get("max").asDouble())
                .isGreaterThanOrEqualTo(run.get("latenessMs").get("p50").asDouble());
        assertThat(run.get("redisCpuUsPerJob").asDouble()).isPositive();
        assertThat(run.get("processes"))
                .hasSize(4)
                .allMatch(each -> each.get("cpuSeconds").asDouble() > 0);
        assertThat(directory.resolve("hdr/minutehand-1.hgrm")).isNotEmptyFile();
        assertThat(directory.resolve("hdr/minutehand-1.hlog")).isNotEmptyFile();
        assertThat(directory.resolve("report.html")).content().contains("<html", "minutehand bench steady");
        assertThat(run.get("buckets").get("overTime").findValuesAsText("jobs"))
                .as("jobs that wait, at 500 a second and half a second ahead")
                .anySatisfy(jobs -> assertThat(Long.parseLong(jobs)).isBetween(1L, 400L));
        assertThat(run.get("redisIdleCpuUsPerSec").asDouble()).isPositive();
        assertThat(run.get("redisCpuUsPerJobNet").asDouble())
                .isLessThan(run.get("redisCpuUsPerJob").asDouble());
        long due = 0;
        for (JsonNode second : run.get("timeline")) {
            due += second.get("started").asLong();
        }
        assertThat(due).isEqualTo(JOBS);
    }

    @Test
    void shouldSeeADelayOfFiveMilliseconds() throws IOException {
        JsonNode run = run(Planted.DELAY).get("runs").get(0);

        assertThat(run.get("latenessMs").get("p50").asDouble()).isGreaterThanOrEqualTo(5);
        assertThat(bench.status()).as("late is not wrong").isZero();
    }

    @Test
    void shouldSeeALostJob() throws IOException {
        JsonNode run = run(Planted.LOSS).get("runs").get(0);

        assertThat(run.get("lost").asLong()).isEqualTo(2);
        assertThat(bench.status()).isEqualTo(1);
        assertThat(bench.out()).contains("FAILED minutehand: 2 jobs were stored and never started");
        assertThat(bench.keptLogs())
                .contains("steady-500-minutehand-1/node-1.log", "steady-500-minutehand-1/producer-0.log");
    }

    @Test
    void shouldSeeAJobThatStartsTwice() throws IOException {
        JsonNode run = run(Planted.DUPLICATE).get("runs").get(0);

        assertThat(run.get("duplicates").asLong()).isEqualTo(2);
        assertThat(bench.status()).isEqualTo(1);
        assertThat(bench.out()).contains("FAILED minutehand: 2 starts were repetitions");
    }

    /** A closed loop would send less and find nothing late. */
    @Test
    void shouldSeeASenderThatStandsStill() throws IOException {
        JsonNode run = run(Planted.STALL).get("runs").get(0);

        assertThat(run.get("latestSendMs").asDouble()).isGreaterThanOrEqualTo(1_000);
        assertThat(run.get("latenessMs").get("p90").asDouble()).isGreaterThanOrEqualTo(100);
        assertThat(run.get("latenessMs").get("max").asDouble()).isGreaterThanOrEqualTo(500);
        assertThat(run.get("started").asLong()).isEqualTo(JOBS);
    }

    @Test
    void shouldMeasureOthersWithTheSameJobs() throws IOException {
        JsonNode report = run(Planted.NONE, "--against=single-zset,zset-tuned,rdelayedqueue", "--store-rate=300");

        assertThat(report.get("runs")).hasSize(4).allSatisfy(run -> {
            // Redisson's queue goes by the clock of the client that stored the job, and may be early by that of Redis.
            assertThat(run.get("failures"))
                    .as(run.get("system").asText())
                    .allMatch(failure -> run.get("system").asText().equals("rdelayedqueue")
                            && failure.asText().endsWith("jobs started early"));
            assertThat(run.get("done").asLong()).isEqualTo(JOBS);
            assertThat(run.get("storedFirst").asBoolean()).isTrue();
            assertThat(run.get("bytesPerPendingJob").asDouble())
                    .as("payloads alone take 100")
                    .isBetween(100.0, 2_000.0);
        });
        long waiting = 0;
        for (JsonNode minute : report.get("runs").get(0).get("buckets").get("start")) {
            waiting += minute.get("jobs").asLong();
        }
        assertThat(waiting).as("all are stored before the first is due").isEqualTo(JOBS);
        assertThat(report.get("runs").get(1).get("buckets").isNull()).isTrue();
        assertThat(report.get("medians").get("single-zset").get("p50").asDouble())
                .as("it sleeps 200 ms when nothing is due")
                .isGreaterThan(10);
        assertThat(report.get("ratios")).hasSize(3);
    }

    @Test
    void shouldCountWhatProducersStore() throws IOException {
        JsonNode rows = bench.run(new ProducersCommand(), "--seconds=1", "--threads=2", "--against=zset-tuned")
                .get("rows");

        assertThat(bench.status()).as(bench.out()).isZero();
        assertThat(rows).hasSize(4).allSatisfy(row -> {
            assertThat(row.get("stored").asLong()).isPositive();
            assertThat(row.get("refused").asLong()).isZero();
            // What is stored within its second, and answered at last.
            assertThat(row.get("storedPerSec").asDouble())
                    .isLessThanOrEqualTo(row.get("stored").asDouble());
        });
    }

    @Test
    void shouldGoOnWithASeriesThatWasInterrupted() throws IOException {
        Path results = directory.resolve("results");
        run(Planted.NONE, "--results=" + results);
        assertThat(results.resolve("steady-500-minutehand-1.json")).isNotEmptyFile();
        JsonNode report = run(Planted.NONE, "--results=" + results, "--runs=2");

        assertThat(bench.out()).contains("run 1 minutehand was made before").contains("run 2 minutehand ...");
        assertThat(report.get("runs")).hasSize(2);
        StringWriter err = new StringWriter();
        assertThat(new CommandLine(RateCommand.steady())
                        .setErr(new PrintWriter(err))
                        .execute("--rate=500.1", "--jobs=9", "--results=" + results))
                .as("runs with other settings are no runs of this series")
                .isEqualTo(2);
        assertThat(err.toString()).contains("give another --results");
    }
}
