package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A backlog for seconds: that its figures can be. How good they are is not judged here. */
class BacklogIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    @Test
    void shouldTellWhatAJobCostsWhileOthersWait() throws IOException {
        JsonNode run = bench.run(
                        new BacklogCommand(),
                        "--pending=3000",
                        "--jobs=500",
                        "--rate=1000",
                        "--warmup=100",
                        "--nodes=1")
                .get("runs")
                .get(0);

        assertThat(bench.status()).as(bench.out()).isZero();
        JsonNode figures = run.get("run");
        assertThat(List.of("lost", "duplicates", "early", "dead", "refused", "unexpected"))
                .allMatch(name -> figures.get(name).asLong() == 0);
        assertThat(figures.get("done").asLong()).isEqualTo(500);
        assertThat(run.get("pending").asLong()).isEqualTo(3_000);
        assertThat(run.get("tablesStillGrowing").asLong()).isZero();
        assertThat(run.get("tables").asLong())
                .as("8 shards of 16 hashes at least, and their buckets")
                .isGreaterThan(128);
        assertThat(run.get("scheduleUsPerJob").asDouble()).isBetween(1.0, 5_000.0);
        assertThat(run.get("drainUsPerJob").asDouble()).isBetween(1.0, 5_000.0);
        assertThat(run.get("bytesPerPendingJob").asDouble())
                .as("payloads alone take 100")
                .isBetween(100.0, 2_000.0);
    }
}
