package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same load on clusters of several sizes. */
@Tag("faults")
class ScaleFaultsIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    @Test
    void shouldMeasureTheSameLoadOnClustersOfSeveralSizes() throws IOException {
        JsonNode report = bench.run(
                new ScaleCommand(),
                "--nodes=1,2",
                "--primaries=1,3",
                "--rate=300",
                "--seconds=3",
                "--warmup=300",
                "--html=" + directory.resolve("scale.html"));

        assertThat(bench.status()).as(bench.out()).isZero();
        assertThat(report.get("runs")).hasSize(4).allSatisfy(run -> {
            assertThat(run.get("run").get("done").asLong()).isEqualTo(900);
            assertThat(run.get("run").get("failures")).isEmpty();
        });
        assertThat(report.get("cases").findValuesAsText("primaries")).containsExactly("1", "1", "3", "3");
        assertThat(report.get("cases")).allSatisfy(size -> {
            assertThat(size.get("jobsPerRedisCpuSecond").asDouble()).isPositive();
            assertThat(size.get("p99Ratio").asDouble()).isPositive();
            assertThat(size.get("jobsRatio").asDouble()).isPositive();
        });
        assertThat(report.get("cases").get(0).get("jobsRatio").asDouble()).isEqualTo(1);
    }
}
