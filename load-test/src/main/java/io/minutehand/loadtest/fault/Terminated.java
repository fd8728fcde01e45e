package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Row 7: nodes are asked to stop (SIGTERM) under load, one after the other, and others take their place. */
final class Terminated implements FaultRow {
    private static final int FULL = 50;
    private static final int SHORT = 3;

    private final List<String> failures = new ArrayList<>();
    private int times;
    private long longestMs;

    @Override
    public String number() {
        return "7";
    }

    @Override
    public String fault() {
        return "SIGTERM under load, also twice";
    }

    @Override
    public String passLine() {
        return "nothing lost; duplicates 0; attempts not counted; lateness <= 2 s; exit status 0 within grace + 2 s;"
                + " nothing used after the connection was closed";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        // Each has a successor that takes seconds to start: fifty take minutes.
        return full
                ? RunSettings.of(true).withLoad(60_000, Duration.ofMinutes(10))
                : RunSettings.of(false).withDefaultTimes();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int wanted = arena.settings().full() ? FULL : SHORT;
        long patienceMs = arena.settings().stopGrace().toMillis() + 10_000;
        for (int i = 0; i < wanted; i++) {
            arena.untilLoadBetween(0.1 + 0.8 * i / wanted, 0.1 + 0.8 * (i + 0.5) / wanted);
            // Its successor comes first, as in a rolling restart.
            arena.awaitReady(arena.addWorker());
            WorkerProcess victim = arena.anyWorker();
            arena.event(victim.name(), "terminated", "");
            long beganNs = System.nanoTime();
            victim.terminate();
            if (i % 2 == 1) {
                victim.terminate();
            }
            Integer status = victim.awaitEnd(patienceMs);
            long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
            arena.event(victim.name(), "ended", "status " + status + " after " + tookMs + " ms");
            longestMs = Math.max(longestMs, tookMs);
            times++;
            if (status == null || status != 0) {
                failures.add(victim.name() + " ended with status " + status);
            }
        }
    }

    @Override
    public void judge(Judge judge) {
        RunSettings settings = judge.arena().settings();
        judge.atLeast("nodes that were stopped", settings.full() ? FULL : SHORT, times);
        judge.none("stops that failed", failures);
        judge.atMost("longest stop ms", settings.stopGrace().toMillis() + 2_000, longestMs);
        judge.duplicatesAtMost(0);
        judge.equal("attempts counted", 0L, judge.attemptsRaised());
        judge.latenessAtMostMs(2_000);
        judge.none("uses of a closed connection", linesWith(judge.arena().workDir(), "RedissonShutdownException"));
    }

    private static List<String> linesWith(Path workDir, String word) {
        try (Stream<Path> files = Files.list(workDir)) {
            List<String> found = new ArrayList<>();
            for (Path log :
                    files.filter(file -> file.toString().endsWith(".log")).toList()) {
                String line = firstWith(log, word);
                if (line != null) {
                    found.add(log.getFileName() + ": " + line);
                }
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable String firstWith(Path log, String word) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(word)).findFirst().orElse(null);
        }
    }
}
