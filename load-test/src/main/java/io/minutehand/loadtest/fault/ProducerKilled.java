package io.minutehand.loadtest.fault;

import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Row 6: a producer is killed in the middle of a batch; another sends the whole batch again. */
final class ProducerKilled implements FaultRow {
    static final int BATCH = 500;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private long resent;
    private long alreadyThere;
    private int kills;

    @Override
    public String number() {
        return "6";
    }

    @Override
    public String fault() {
        return "kill -9 of a producer inside a batch of 500; the whole batch again";
    }

    @Override
    public String passLine() {
        return "each id exists once: accepted = distinct ids; the second time each answer is CREATED or EXISTS; duplicates 0";
    }

    @Override
    public RunSettings settings(boolean full) {
        return RunSettings.of(full).withLoad(full ? 6_000 : 600, full ? Duration.ofSeconds(60) : Duration.ofSeconds(6));
    }

    @Override
    public void strike(Arena arena) throws Exception {
        int wanted = arena.settings().full() ? 10 : 2;
        for (int i = 0; i < wanted; i++) {
            String name = "producer-" + i;
            long dueUs = (arena.clock().nowUs() + 8_000_000) / 1_000 * 1_000;
            WorkerProcess producer = startProducer(arena, name, dueUs);
            arena.await(
                    name + " to send a batch", LIMIT, () -> producer.status().held() >= 1);
            // A batch takes a few milliseconds: somewhere in one of the next.
            Thread.sleep(0, arena.random().nextInt(1_000_000));
            Thread.sleep(arena.random().nextInt(30));
            producer.kill();
            kills++;
            arena.event(name, "killed", "");
            resend(arena, name, dueUs);
        }
    }

    private static WorkerProcess startProducer(Arena arena, String name, long dueUs) {
        WorkerProcess.Kind kind = new WorkerProcess.Kind(
                "fault-producer",
                96,
                WorkerProcess.Compiler.SOON,
                unused -> List.of(
                        "--name", name, "--work-dir", arena.workDir().toString(), "--due-us", Long.toString(dueUs)),
                unused -> Map.of(FaultWorkerCommand.LINK_VARIABLE, arena.redis().uri()));
        return WorkerProcess.start(
                name,
                arena.home(),
                kind,
                arena.workDir().resolve(name + ".err.log"),
                new ConcurrentLinkedQueue<>()::add);
    }

    /** Sends again, from here, whatever the producer had begun to send. */
    private void resend(Arena arena, String name, long dueUs) throws Exception {
        long before = arena.load().answers(Status.EXISTS);
        List<String> begun = FaultProducerCommand.begun(arena.workDir(), name);
        for (String id : begun) {
            arena.load().offer(id, FaultProducerCommand.deed(), dueUs);
        }
        resent += begun.size();
        arena.await(
                "the batches of " + name + " to be accepted",
                LIMIT,
                () -> arena.load().areAllAnswered());
        alreadyThere += arena.load().answers(Status.EXISTS) - before;
    }

    @Override
    public void judge(Judge judge) {
        judge.atLeast("producers killed", 2, kills);
        judge.atLeast("jobs sent again", BATCH, resent);
        judge.atLeast("of them were there already", 1, alreadyThere);
        judge.equal("answers CONFLICT", 0L, judge.answers(Status.CONFLICT));
        judge.duplicatesAtMost(0);
    }
}
