package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backlogs of two sizes, and a baseline beside. */
@Tag("faults")
class BacklogFaultsIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    @Test
    void shouldCompareBacklogsOfDifferentSizesAndGoOnWithASeries() throws IOException {
        String[] arguments = {
            "--pending=1000,20000",
            "--jobs=1000",
            "--rate=1000",
            "--warmup=200",
            "--nodes=1",
            "--against=single-zset",
            "--results=" + directory.resolve("results")
        };
        JsonNode report = bench.run(new BacklogCommand(), arguments);

        assertThat(bench.status()).as(bench.out()).isZero();
        assertThat(report.get("runs")).hasSize(4).allSatisfy(run -> {
            assertThat(run.get("failures")).isEmpty();
            assertThat(run.get("run").get("done").asLong()).isEqualTo(1_000);
            assertThat(run.get("tablesStillGrowing").asLong()).isZero();
        });
        assertThat(report.get("ratios").get("minutehand").get("both").asDouble())
                .isPositive();
        assertThat(report.get("ratios").get("single-zset").get("most").asLong()).isEqualTo(20_000);

        JsonNode again = bench.run(new BacklogCommand(), arguments);
        assertThat(bench.out()).contains("run 1 single-zset with 20000 pending was made before");
        assertThat(again.get("ratios")).isEqualTo(report.get("ratios"));
    }
}
