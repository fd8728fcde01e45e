package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A soak for seconds. */
class SoakIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    @Test
    void shouldSampleASoak() throws IOException {
        JsonNode report = bench.run(
                new SoakCommand(),
                "--minutes=0.075",
                "--sample=0.4",
                "--rate=200",
                "--warmup=100",
                "--nodes=1",
                "--planted=leak",
                "--csv=" + directory.resolve("soak.csv"),
                "--html=" + directory.resolve("soak.html"));

        assertThat(bench.status()).as(bench.out()).isEqualTo(1);
        assertThat(bench.out()).contains("FAILED node-1 heap after collection MiB is not flat");
        JsonNode figures = report.get("run").get("run");
        assertThat(List.of("lost", "duplicates", "early", "dead", "refused", "unexpected"))
                .allMatch(name -> figures.get(name).asLong() == 0);
        assertThat(figures.get("done").asLong()).isEqualTo(900);
        assertThat(report.get("verdicts").findValuesAsText("series"))
                .containsExactly(
                        "node-1 heap after collection MiB",
                        "producer-0 heap after collection MiB",
                        "node-1 resident memory MiB",
                        "producer-0 resident memory MiB",
                        "redis resident memory MiB",
                        "node-1 threads",
                        "producer-0 threads",
                        "redis keys");
        List<String> csv = Files.readAllLines(directory.resolve("soak.csv"));
        assertThat(csv.get(0)).startsWith("seconds,node-1 heap after collection MiB,");
        assertThat(csv).hasSizeBetween(10, 13);
        assertThat(directory.resolve("soak.html")).content().contains("Does it grow?");
        for (JsonNode series : report.get("run").get("series")) {
            assertThat(series.get("values")).hasSize(csv.size() - 1).allMatch(value -> value.asDouble() > 0);
        }
        JsonNode heap = report.get("run").get("series").get(0).get("values");
        assertThat(heap.get(heap.size() - 1).asDouble() - heap.get(0).asDouble())
                .as("a worker that keeps 64 KiB of each of about 800 jobs, MiB")
                .isBetween(25.0, 100.0);
    }
}
