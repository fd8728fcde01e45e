package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord;
import io.minutehand.loadtest.ledger.LedgerTail;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Row 13: Redis comes back empty. What it held is gone, as the durability level says; who has the jobs in a database
 * schedules those again that have not ended, with the same ids.
 */
final class EmptyRedis implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final double BACK_MS = 10_000;

    private final Map<WorkerProcess, String> oldIds = new HashMap<>();
    private long again;
    private long backMs;
    private long underTheirOldIds;

    @Override
    public String number() {
        return "13";
    }

    @Override
    public String fault() {
        return "Redis comes back empty; the producer schedules again what has not ended";
    }

    @Override
    public String passLine() {
        return "nodes are back under other ids <= 10 s and declare the topic again; every job scheduled again ends;"
                + " counters start anew and agree; duplicates <= jobs that had started and not ended";
    }

    @Override
    public boolean keepsCounters() {
        return false;
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoadBetween(0.3, 0.4);
        arena.fleet().ready().forEach(worker -> oldIds.put(worker, String.valueOf(worker.nodeId())));
        arena.redis().kill();
        empty(arena.redis().directory().resolve("appendonlydir"));
        arena.redis().restart();
        arena.event("redis", "restarted", "empty");
        long beganNs = System.nanoTime();
        arena.await(
                "the nodes to be back under other ids",
                LIMIT,
                () -> oldIds.entrySet().stream()
                        .allMatch(old -> Arena.isReady(old.getKey())
                                && !old.getValue().equals(old.getKey().nodeId())));
        arena.awaitShared();
        backMs = (System.nanoTime() - beganNs) / 1_000_000;
        underTheirOldIds = oldIds.entrySet().stream()
                .filter(old -> old.getValue().equals(old.getKey().nodeId()))
                .count();
        arena.untilLoad(1);
        scheduleAgain(arena);
    }

    private static void empty(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(directory)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.delete(file);
        }
    }

    /** What a database would know: the jobs that were accepted, and those that ended. */
    private void scheduleAgain(Arena arena) throws IOException {
        Set<String> offered = new HashSet<>();
        Set<String> started = new HashSet<>();
        Set<String> ended = new HashSet<>();
        LedgerTail.readAll(arena.workDir(), entry -> {
            if (entry instanceof LedgerRecord.Intent intent) {
                offered.add(intent.id());
            } else if (entry instanceof LedgerRecord.Start start) {
                started.add(start.id());
            } else if (entry instanceof LedgerRecord.End end && end.result() == LedgerRecord.Result.DONE) {
                ended.add(end.id());
            } else if (entry instanceof LedgerRecord.Dead dead) {
                ended.add(dead.id());
            } else if (entry instanceof LedgerRecord.Cancel cancel && cancel.ack() == LedgerRecord.Ack.ACCEPTED) {
                ended.add(cancel.id());
            }
        });
        offered.removeAll(ended);
        for (String id : new ArrayList<>(offered)) {
            arena.load().offerAgain(id);
            arena.expose(started.contains(id) ? 1 : 0);
        }
        again = offered.size();
        arena.event("load", "scheduled again", again + " jobs");
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("jobs scheduled again", 1, again);
        judge.equal("nodes under their old ids", 0L, underTheirOldIds);
        judge.atMost("ms until the nodes shared the topic again", BACK_MS + judge.slackMs(), backMs);
        judge.duplicatesOfExposedOnly();
    }
}
