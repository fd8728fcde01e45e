package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster without jobs, for seconds. */
class IdleIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    @Test
    void shouldTellWhatAnIdleClusterCosts() throws IOException {
        JsonNode row = bench.run(new IdleCommand(), "--nodes=1", "--shards=4", "--seconds=2", "--settle=2")
                .get("rows")
                .get(0);

        assertThat(bench.status()).as(bench.out()).isZero();
        // A beat each second at the least; and a node looks at each shard every 250 ms at most, and renews every 2 s.
        assertThat(row.get("callsPerSec").asDouble()).isBetween(0.5, 50.0);
        assertThat(row.get("processes")).hasSize(1);
        assertThat(row.get("workerCpuMsPerSec").asDouble()).isBetween(0.1, 1_000.0);
        assertThat(row.get("commandsPerSec").has("info"))
                .as("what the lab asks itself")
                .isFalse();
    }
}
