package io.minutehand.loadtest.fault;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The table of runs, made of the reports in a directory. */
final class FaultTable {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final List<JsonNode> reports;

    private FaultTable(List<JsonNode> reports) {
        this.reports = reports;
    }

    /** Reads all reports of a directory; those of the full form stand in front of the short ones of the same row. */
    static FaultTable of(Path directory) throws IOException {
        List<JsonNode> reports = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".json")).toList()) {
                reports.add(MAPPER.readTree(file.toFile()));
            }
        }
        reports.sort(Comparator.comparing((JsonNode report) -> Integer.parseInt(text(report, "row")))
                .thenComparing(report -> text(report, "form")));
        return new FaultTable(reports);
    }

    /**
     * Whether the run of a report passed.
     *
     * @throws IOException if the file cannot be read, or is no report
     */
    static boolean passed(Path file) throws IOException {
        JsonNode report = MAPPER.readTree(file.toFile());
        if (!report.path("passed").isBoolean()) {
            throw new IOException(file + " is no report of a row; remove it, or give another --results");
        }
        return report.path("passed").asBoolean();
    }

    void write(Path file) throws IOException {
        Files.writeString(file, text());
    }

    String text() {
        StringBuilder text = new StringBuilder("""
                # What was broken, and what held

                Written by `deploy/minutehand bench fault --all --results DIR --report deploy/FAULTS.md`; do not edit. Each row is one
                run: three worker processes, Redis with an append-only file, and a fault under load. Lost and duplicate jobs are
                counted from append-only files of the processes. The short form has a lease of 2 s and a visibility of 3 s, the full
                form the default times and a visibility of 15 s. `deploy/minutehand bench fault ROW` repeats one, with `--seed` the same.

                | row | fault | form | date (UTC) | jobs | lost | duplicates | take-over ms | lateness p99 / max ms | verdict |
                | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
                """);
        for (JsonNode report : reports) {
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %d | %d | %d | %s | %.0f / %.0f | %s |%n",
                    text(report, "row"),
                    text(report, "what"),
                    text(report, "form"),
                    text(report, "date").substring(0, 16).replace('T', ' '),
                    report.path("jobs").asLong(),
                    report.path("lost").asLong(),
                    report.path("duplicates").asLong(),
                    report.path("takeoverMs").isNull()
                            ? "-"
                            : Math.round(report.path("takeoverMs").asDouble()),
                    report.path("latenessMs").path("p99").asDouble(),
                    report.path("latenessMs").path("max").asDouble(),
                    report.path("passed").asBoolean() ? "passed" : "**failed**"));
        }
        text.append("\n## What had to hold, and what was measured\n");
        for (JsonNode report : reports) {
            text.append(String.format(
                    Locale.ROOT,
                    "%n**Row %s, %s** (%s, seed %s). %s.%n%n",
                    text(report, "row"),
                    text(report, "what"),
                    text(report, "form"),
                    text(report, "seed"),
                    text(report, "passLine")));
            List<String> measured = new ArrayList<>();
            for (JsonNode check : report.path("checks")) {
                measured.add((check.path("ok").asBoolean() ? "" : "FAILED: ") + text(check, "what") + " "
                        + text(check, "measured") + " (" + text(check, "limit") + ")");
            }
            text.append(String.join("; ", measured)).append(".\n");
        }
        return text.toString().replace(System.lineSeparator(), "\n");
    }

    private static String text(JsonNode node, String name) {
        return node.path(name).asText();
    }
}
