package io.minutehand.loadtest.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** What a report says of the machine that it was made on. */
final class Machine {
    private Machine() {}

    /** Processor, cores, memory, kernel, JVM. */
    static Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("processor", field(Path.of("/proc/cpuinfo"), "model name"));
        facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
        facts.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
        return facts;
    }

    private static String field(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
