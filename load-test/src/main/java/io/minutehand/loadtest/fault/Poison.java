package io.minutehand.loadtest.fault;

import io.minutehand.core.job.JobStatus;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Row 23: jobs that no attempt can do, some of which end their process; whoever dies of them is started again. */
final class Poison implements FaultRow {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final double GOOD_P99_MS = 2_000;

    /** Until a successor works and has caught up. */
    private static final Duration SUCCESSOR = Duration.ofSeconds(4);

    private final Map<String, Deed> poison = new HashMap<>();
    private final List<Long> deathsUs = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    @Override
    public String number() {
        return "23";
    }

    @Override
    public String fault() {
        return "poison: throws, garbage, stack and memory errors, endless loop, kills its JVM";
    }

    @Override
    public String passLine() {
        return "each poison is dead after K starts, crashes included, with its payload; no good job is dead; good jobs not"
                + " in the take-over of a node that died: lateness p99 <= 2 s";
    }

    @Override
    public boolean isFast() {
        return true;
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withHandlerTimeout(Duration.ofSeconds(1));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.expectEnds();
        boolean full = arena.settings().full();
        long baseUs = arena.load().firstDueUs();
        spread(arena, Deed.Kind.THROW, 5, baseUs);
        spread(arena, Deed.Kind.GARBAGE, 5, baseUs);
        spread(arena, Deed.Kind.STACK, full ? 3 : 4, baseUs);
        spread(arena, Deed.Kind.MEMORY, 3, baseUs);
        spread(arena, Deed.Kind.LOOP, 2, baseUs);
        // Each ends three processes, and a successor takes seconds to start.
        spread(arena, Deed.Kind.HALT, full ? 2 : 1, baseUs);
        arena.await("all poison to be dead", LIMIT, () -> {
            for (WorkerProcess dead : arena.fleet().endedUnasked()) {
                deathsUs.add(arena.clock().nowUs());
                arena.event(dead.name(), "died", "");
                arena.addWorker();
            }
            return arena.isPast(1) && allDead(arena);
        });
        for (String id : poison.keySet()) {
            JobStatus status = arena.load().topic().find(id).join().orElse(null);
            byte[] payload = status == null || status.job() == null
                    ? new byte[0]
                    : status.job().payload();
            if (!Arrays.equals(payload, poison.get(id).payload())) {
                wrong.add(id + " has another payload as a dead letter");
            }
        }
    }

    private void spread(Arena arena, Deed.Kind kind, int count, long baseUs) {
        for (int i = 0; i < count; i++) {
            String id = "poison-" + kind + "-" + i;
            Deed deed = new Deed(kind, 5);
            poison.put(id, deed);
            long withinUs = arena.settings().lasts().toMillis() * 500;
            arena.load().offer(id, deed, (baseUs + (long) (arena.random().nextDouble() * withinUs)) / 1_000 * 1_000);
        }
    }

    private boolean allDead(Arena arena) {
        try (RedisProbe probe = arena.probe()) {
            return poison.keySet().stream().allMatch(id -> probe.isDead(RunSettings.TOPIC, id));
        }
    }

    @Override
    public void judge(Judge judge) {
        Map<String, Integer> starts = new HashMap<>();
        judge.verdict().firstStarts().forEach(start -> starts.merge(start.id(), 1, Integer::sum));
        judge.verdict().repeatedStarts().forEach(start -> starts.merge(start.id(), 1, Integer::sum));
        for (String id : poison.keySet()) {
            int times = starts.getOrDefault(id, 0);
            boolean ends = poison.get(id).kind() == Deed.Kind.HALT;
            // The death of its node by another job gives a job one start more; one that ends its node itself may be
            // handed out without being started, when another ends the node first.
            int least = ends ? 1 : RunSettings.ATTEMPTS;
            int most = RunSettings.ATTEMPTS + (ends ? 0 : deathsUs.size());
            if (times < least || times > most) {
                wrong.add(id + " was started " + times + " times");
            }
        }
        judge.none("poison that ended otherwise, of " + poison.size(), wrong);
        judge.atLeast("processes that died", 1, deathsUs.size());
        judge.none("good jobs among the dead", goodDead(judge));
        judge.atMost(
                "good-job lateness p99 ms, outside of take-overs",
                GOOD_P99_MS + judge.slackMs(),
                judge.punctuality()
                        .of(start -> isGood(judge, start) && !inTakeover(judge, start))
                        .p99());
        // Whatever ran beside a job that ended its process runs again, and so does what had ended in the round trip
        // that
        // its acknowledgement takes: no more than fills the slots once.
        judge.duplicatesAtMost(2L * deathsUs.size() * judge.arena().settings().slots());
    }

    private static List<String> goodDead(Judge judge) {
        List<String> dead = new ArrayList<>();
        for (String id : judge.deadIds()) {
            Deed.Kind kind = judge.arena().load().deedOf(id);
            if (kind == Deed.Kind.WORK || kind == Deed.Kind.FAIL_ONCE) {
                dead.add(id);
            }
        }
        return dead;
    }

    private static boolean isGood(Judge judge, Start start) {
        Deed.Kind kind = judge.arena().load().deedOf(start.id());
        return kind == Deed.Kind.WORK;
    }

    private boolean inTakeover(Judge judge, Start start) {
        if (start.delivery() > 1) {
            // A node that died had it.
            return true;
        }
        long beforeUs = 500_000;
        long afterUs = judge.arena().settings().takeover().plus(SUCCESSOR).toMillis() * 1_000;
        return deathsUs.stream().anyMatch(us -> start.dueUs() > us - beforeUs && start.dueUs() < us + afterUs);
    }
}
