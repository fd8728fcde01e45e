package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes samples of what must not grow, while jobs are due. For one thread. */
final class SoakSampler implements LabRun.Observer {
    private static final String RSS = "VmRSS:";

    private final double everySeconds;
    private final Map<Key, Samples> series = new LinkedHashMap<>();
    private long firstNs;
    private long taken;

    private record Key(SoakSeries.Kind kind, String of) {}

    private static final class Samples {
        final List<Double> seconds = new ArrayList<>();
        final List<Double> values = new ArrayList<>();
    }

    SoakSampler(double everySeconds) {
        this.everySeconds = everySeconds;
    }

    @Override
    public void looks(LabRun run) {
        if (!run.isDue()) {
            return;
        }
        if (taken == 0) {
            firstNs = System.nanoTime();
        }
        double seconds = (System.nanoTime() - firstNs) / 1e9;
        if (seconds < taken * everySeconds || run.isLastDue()) {
            return;
        }
        taken++;
        for (WorkerProcess process : run.processes().all()) {
            String name = process.name();
            note(SoakSeries.Kind.HEAP, name, seconds, process.status().count("live_kb") / 1_024.0);
            rssKb(process.pid()).ifPresent(kb -> note(SoakSeries.Kind.RSS, name, seconds, kb / 1_024.0));
            note(SoakSeries.Kind.THREADS, name, seconds, process.status().count("threads"));
        }
        note(SoakSeries.Kind.RSS, "redis", seconds, run.meter().rssBytes() / (1 << 20));
        note(SoakSeries.Kind.KEYS, "redis", seconds, run.meter().keys());
    }

    private void note(SoakSeries.Kind kind, String of, double seconds, double value) {
        Samples samples = series.computeIfAbsent(new Key(kind, of), unused -> new Samples());
        samples.seconds.add(Math.round(seconds * 10) / 10.0);
        samples.values.add(Math.round(value * 1_000) / 1_000.0);
    }

    /** Resident memory of a process; nothing where there is no /proc. */
    private static Optional<Long> rssKb(long pid) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith(RSS))
                    .map(line -> Long.parseLong(
                            line.substring(RSS.length()).replace("kB", "").trim()))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** All series, by kind. */
    List<SoakSeries> series() {
        List<SoakSeries> found = new ArrayList<>();
        for (SoakSeries.Kind kind : SoakSeries.Kind.values()) {
            series.forEach((key, samples) -> {
                if (key.kind() == kind) {
                    found.add(
                            new SoakSeries(kind, key.of(), List.copyOf(samples.seconds), List.copyOf(samples.values)));
                }
            });
        }
        return found;
    }

    /** A line a sample, a column a series. */
    static List<String> csv(List<SoakSeries> series) {
        List<String> lines = new ArrayList<>();
        StringBuilder heading = new StringBuilder("seconds");
        series.forEach(each -> heading.append(',').append(each.name()));
        lines.add(heading.toString());
        List<Double> seconds = series.isEmpty() ? List.of() : series.get(0).seconds();
        for (int i = 0; i < seconds.size(); i++) {
            StringBuilder line = new StringBuilder(seconds.get(i).toString());
            for (SoakSeries each : series) {
                line.append(',').append(each.values().get(i));
            }
            lines.add(line.toString());
        }
        return lines;
    }
}
