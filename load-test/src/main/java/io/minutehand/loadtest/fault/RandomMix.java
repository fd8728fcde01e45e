package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.LinkProxy.Direction;
import io.minutehand.redis.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Row 43: two faults at a time, chosen by the dice, one pair after the other. */
final class RandomMix implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private int rounds;

    /** What can happen, in the order in which two of them are begun: whoever asks Redis comes before it goes down. */
    private enum Fault {
        KILL,
        PAUSE,
        TERMINATE,
        CUT_OFF,
        SLOW,
        FLUSH_SCRIPTS,
        JOIN,
        KILL_REDIS
    }

    @Override
    public String number() {
        return "43";
    }

    @Override
    public String fault() {
        return "random mix: two at a time of kill, pause, SIGTERM, cut off, slow, script flush, join, kill of Redis";
    }

    @Override
    public String passLine() {
        return "nothing lost, early 0, counters agree; duplicates <= jobs that could be in flight on what was struck";
    }

    @Override
    public RunSettings settings(boolean full) {
        return (full
                        ? RunSettings.of(true).withLoad(36_000, Duration.ofMinutes(3))
                        : RunSettings.of(false).withLoad(4_000, Duration.ofSeconds(26)))
                .withProxies();
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoad(0.03);
        while (!arena.isPast(0.85)) {
            List<Fault> faults = new ArrayList<>(List.of(Fault.values()));
            Collections.shuffle(faults, arena.random());
            List<Fault> two = faults.subList(0, 2).stream().sorted().toList();
            List<WorkerProcess> struck = new ArrayList<>();
            for (Fault fault : two) {
                WorkerProcess victim = arena.anyWorker();
                struck.add(victim);
                begin(fault, victim, arena);
            }
            Thread.sleep(500 + arena.random().nextInt(arena.settings().full() ? 4_500 : 3_000));
            for (int i = 0; i < two.size(); i++) {
                end(two.get(i), struck.get(i), arena);
            }
            rounds++;
            while (arena.fleet().workers().stream()
                            .filter(worker -> worker.isAlive() && !worker.wasToldToEnd())
                            .count()
                    < arena.settings().nodes()) {
                arena.addWorker();
            }
            arena.await(
                    "the nodes to be ready again",
                    LIMIT,
                    () -> arena.fleet().ready().stream()
                                    .filter(worker -> !worker.wasToldToEnd() && Arena.isReady(worker))
                                    .count()
                            >= arena.settings().nodes());
        }
    }

    private static void begin(Fault fault, WorkerProcess victim, Arena arena) throws Exception {
        int slots = arena.settings().slots();
        switch (fault) {
            case KILL -> arena.kill(victim);
            case PAUSE -> {
                arena.halt(victim);
                arena.expose(slots);
            }
            case TERMINATE -> {
                arena.event(victim.name(), "terminated", "");
                victim.terminate();
                // With its link cut or Redis down it cannot give back what it has.
                arena.expose(slots);
            }
            case CUT_OFF -> {
                arena.event(victim.name(), "cut off", "");
                arena.link(victim).blackHole(Direction.TO_SERVER);
                arena.link(victim).blackHole(Direction.TO_CLIENT);
                arena.expose(slots);
            }
            case SLOW -> {
                arena.event("links", "slow", "100 ms each way");
                arena.links().forEach(link -> link.delay(Duration.ofMillis(100), Duration.ofMillis(100)));
            }
            case FLUSH_SCRIPTS -> {
                try (RedisCommands redis = arena.commands()) {
                    redis.call("SCRIPT", "FLUSH");
                }
                arena.event("redis", "scripts flushed", "");
            }
            case JOIN -> arena.addWorker();
            case KILL_REDIS -> {
                arena.exposeAllSlots();
                arena.restartRedis(Duration.ofMillis(500 + arena.random().nextInt(1_500)));
            }
        }
    }

    private static void end(Fault fault, WorkerProcess victim, Arena arena) throws Exception {
        switch (fault) {
            case PAUSE -> arena.resume(victim);
            case CUT_OFF -> {
                arena.link(victim).resetAll();
                arena.link(victim).pass();
                arena.event(victim.name(), "linked again", "");
            }
            case SLOW -> arena.links().forEach(LinkProxy::pass);
            default -> {
                // What it was is over.
            }
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("pairs of faults", 2, rounds);
        judge.duplicatesOfExposedOnly();
    }
}
