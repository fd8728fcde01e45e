package io.minutehand.loadtest.fault;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The harness itself: it passes what is well, and it can fail. */
class FaultRunIT {
    @TempDir
    Path directory;

    /** Nothing is broken. */
    private static final class Quiet implements FaultRow {
        @Override
        public String number() {
            return "0";
        }

        @Override
        public String fault() {
            return "none";
        }

        @Override
        public String passLine() {
            return "nothing lost, nothing twice";
        }

        @Override
        public RunSettings settings(boolean full) {
            return RunSettings.of(full).withLoad(300, Duration.ofSeconds(1));
        }

        @Override
        public void strike(Arena arena) {}

        @Override
        public void judge(Judge judge) {
            judge.duplicatesAtMost(0);
        }
    }

    @Test
    void shouldPassARunWithoutFaultAndWriteItsReport() throws Exception {
        FaultReport report = new FaultRun(new Quiet(), false, 1).run();

        assertThat(report.run().failures()).isEmpty();
        assertThat(report.exitStatus()).isZero();
        Path file = directory.resolve("reports/row-0.json");
        report.write(file);
        JsonNode json = new ObjectMapper().readTree(file.toFile());
        assertThat(json.path("row").asText()).isEqualTo("0");
        assertThat(json.path("scenario").asText()).isEqualTo("fault 0");
        assertThat(json.path("scheduled").asInt()).isEqualTo(300);
        assertThat(json.path("lost").asInt()).isZero();
        assertThat(json.path("latenessMs").path("p99").asDouble()).isPositive();
        assertThat(json.path("checks")).isNotEmpty();
        assertThat(json.path("passed").asBoolean()).isTrue();
        assertThat(FaultTable.of(file.getParent()).text()).contains("| 0 | none | short |", "| passed |");
    }

    @Test
    void shouldFailWhenTheLedgerMissesOneEnd() throws Exception {
        FaultReport report = new FaultRun(new Quiet(), new Quiet().settings(false), 2, FaultRunIT::dropOneEnd).run();

        assertThat(report.run().figures().lost()).isEqualTo(1);
        assertThat(report.exitStatus()).isEqualTo(1);
        assertThat(report.run().failures())
                .anySatisfy(failure -> assertThat(failure).startsWith("lost = 1"));
        assertThat(report.lines()).anySatisfy(line -> assertThat(line).contains("FAILED lost = 1"));
        deleteEvidence(Path.of(String.valueOf(report.evidence())));
    }

    private static void dropOneEnd(Path workDir) {
        try {
            for (int node = 1; node <= 3; node++) {
                Path file = workDir.resolve("node-" + node + ".ledger");
                List<String> lines = new ArrayList<>(Files.readAllLines(file));
                for (String line : lines) {
                    if (line.startsWith("E\t") && line.contains("\tdone\t")) {
                        lines.remove(line);
                        Files.write(file, lines);
                        return;
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void deleteEvidence(Path kept) throws IOException {
        try (var files = Files.list(kept)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(kept);
    }
}
