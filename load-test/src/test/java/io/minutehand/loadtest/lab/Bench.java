package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Runs scenarios as the command line does. */
final class Bench {
    private static final Pattern LOGS = Pattern.compile("logs are in (\\S+)");

    private final Path json;
    private final StringWriter out = new StringWriter();
    private List<String> kept = List.of();
    private int status;

    /** @param directory for the report */
    Bench(Path directory) {
        this.json = directory.resolve("report.json");
    }

    /** Runs a scenario; returns its report. */
    JsonNode run(Object command, String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.add("--json=" + json);
        status = new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments.toArray(String[]::new));
        System.out.println(arguments + ": " + out);
        takeLogs();
        return new ObjectMapper().readTree(json.toFile());
    }

    /** Looks at the logs that a run kept, and deletes them: nobody will read them. */
    private void takeLogs() throws IOException {
        Matcher told = LOGS.matcher(out.toString());
        while (told.find()) {
            Path folder = Path.of(told.group(1));
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    List<Path> deepestFirst =
                            files.sorted(Comparator.reverseOrder()).toList();
                    kept = deepestFirst.stream()
                            .map(folder::relativize)
                            .map(Path::toString)
                            .toList();
                    for (Path file : deepestFirst) {
                        Files.delete(file);
                    }
                }
            }
        }
    }

    /** What was in the folder of logs that was kept last. */
    List<String> keptLogs() {
        return kept;
    }

    /** The exit status of the last run. */
    int status() {
        return status;
    }

    /** What all runs have printed. */
    String out() {
        return out.toString();
    }
}
