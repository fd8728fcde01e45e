package io.minutehand.loadtest.lab;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** Runs scenarios as the command line does. */
final class Bench {
    private final Path json;
    private final StringWriter out = new StringWriter();
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
        return new ObjectMapper().readTree(json.toFile());
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
