package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search for the highest rate, with limits that every machine holds, or none. */
@Tag("faults")
class FindMaxFaultsIT {
    @TempDir
    private Path directory;

    private Bench bench;

    @BeforeEach
    void prepare() {
        bench = new Bench(directory);
    }

    /** Each job is 5 ms late by then: no rate holds 3 ms, and any that the machine can do holds 10 s. */
    @Test
    void shouldLookForTheHighestRate() throws IOException {
        JsonNode none = bench.run(
                RateCommand.steady(),
                "--find-max",
                "--rate=200",
                "--seconds=2",
                "--steps=2",
                "--limit=3",
                "--planted=delay");

        assertThat(bench.status()).isEqualTo(1);
        assertThat(none.get("maxRate").isNull()).isTrue();
        assertThat(none.get("steps").findValuesAsText("rate")).containsExactly("200.0", "100.0");
        assertThat(bench.out()).contains("200/s not held", "FAILED no rate that was tried was held");

        Path results = directory.resolve("results");
        String[] wide = {"--find-max", "--rate=100", "--seconds=2", "--steps=2", "--limit=10000", "--results=" + results
        };
        JsonNode found = bench.run(RateCommand.steady(), wide);

        assertThat(bench.status()).as(bench.out()).isZero();
        assertThat(found.get("maxRate").asDouble()).isEqualTo(200);
        assertThat(found.get("steps").findValuesAsText("held")).containsExactly("true", "true");
        assertThat(found.get("run").get("done").asLong()).isEqualTo(400);

        bench.run(RateCommand.steady(), wide);
        assertThat(bench.out()).contains("step 2: 200 jobs a second was made before");
    }
}
