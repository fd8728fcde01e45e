package io.minutehand.loadtest.fault;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.minutehand.loadtest.report.RunReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The report of one run of one row: the figures of every report, and what the row wanted beside what was measured.
 *
 * @param row its number
 * @param what the fault
 * @param form {@code short} or {@code full}
 * @param date when it began, UTC
 * @param passLine what must hold
 * @param takeoverMs the longest take-over of a killed node's buckets, or null
 * @param events what was done, with the seconds since the load began
 * @param checks what was compared
 * @param evidence the directory of ledger and logs, if it failed
 * @param run the figures
 */
@JsonPropertyOrder({"row", "what", "form", "seed", "date", "passLine"})
record FaultReport(
        String row,
        String what,
        String form,
        long seed,
        String date,
        String passLine,
        @Nullable Double takeoverMs,
        List<String> events,
        List<Judge.Check> checks,
        @Nullable String evidence,
        @JsonUnwrapped RunReport run) {
    private static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    boolean passed() {
        return run.passed();
    }

    /** The exit status that belongs to it: 0 only if everything that the row promises holds. */
    int exitStatus() {
        return run.exitStatus();
    }

    void write(Path file) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.writeString(file, MAPPER.writeValueAsString(this) + System.lineSeparator());
    }

    /** The report in lines, for people. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("row " + row + ": " + what + " (" + form + ", seed " + seed + ")");
        events.forEach(event -> lines.add("  at " + event));
        checks.forEach(check -> lines.add("  " + (check.ok() ? "ok    " : "FAILED") + " " + check));
        lines.add(summary());
        if (evidence != null) {
            lines.add("ledger and logs are in " + evidence);
        }
        return lines;
    }

    /** The verdict in one line. */
    String summary() {
        return String.format(
                Locale.ROOT,
                "row %s %s: of %d jobs lost %d, run twice %d, early %d; lateness p99 %.0f ms, max %.0f ms; take-over %s; seed %d",
                row,
                passed() ? "PASSED" : "FAILED",
                run.figures().jobs(),
                run.figures().lost(),
                run.figures().duplicates(),
                run.figures().early(),
                run.figures().latenessMs().p99(),
                run.figures().latenessMs().max(),
                takeoverMs == null ? "-" : Math.round(takeoverMs) + " ms",
                seed);
    }
}
