package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.ProcessUnderTest.Start;
import io.minutehand.worker.ProcessUnderTest.Stats;
import io.minutehand.worker.WorkerProcess.HoldAt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Processes that are asked to end (SIGTERM) or do not run for a while (SIGSTOP, SIGCONT), beside nodes that live. */
class StoppedProcessIT {
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Handlers of 40 ms, and calls that may need a repeat or two; the grace of 30 s is not for them. */
    private static final long ORDERLY_END_MS = 7000;

    /** Of both topics together. */
    private static final int SHARDS = 16;

    private final RedisOptions redis = Workers.ownNamespace();
    private final Workers workers = new Workers(redis);
    private final Runs runs = new Runs();
    private Jobs jobs;
    private Jobs later;
    private ProcessUnderTest victim;

    @AfterEach
    void close() {
        workers.close();
        if (victim != null) {
            victim.close();
        }
        if (jobs != null) {
            jobs.close();
            later.close();
        }
    }

    /** With the default times: nobody but who is stopped must be found dead, whatever else this machine does. */
    private void open(int others) {
        jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(SHARDS / 2));
        later = new Jobs(redis, "later", TopicSettings.defaults().withShards(SHARDS / 2));
        victim = ProcessUnderTest.start(SharedRedis.get().uri(), redis, "orders,later", "default", HoldAt.NOWHERE);
        for (int i = 0; i < others; i++) {
            String name = "survivor-" + i;
            workers.start(
                    name,
                    builder -> builder.settings(WorkerSettings.defaults())
                            .handle("orders", (payload, job) -> {
                                runs.add(name, job);
                                Thread.sleep(20);
                            })
                            .handle("later", runs.handler(name)));
        }
        // Each topic for itself: a node that does not know one yet would find its minute leased once jobs flow.
        int leastOwned = 2 * (SHARDS / 2 - others * ((SHARDS / 2 + others) / (others + 1)));
        await("all are members and share the shards")
                .atMost(LONG)
                .until(() -> victim.lastStats().ready()
                        && victim.lastStats().ownedShards() >= leastOwned
                        && victim.lastStats().ownedShards() + owned() == SHARDS);
    }

    private int owned() {
        return workers.all().stream()
                .mapToInt(node -> node.stats().ownedShards())
                .sum();
    }

    /** One job each {@code everyMs}, from now on. */
    private List<NewJob> stream(int count, int everyMs, String payload) {
        long base = jobs.nowMs() + 300;
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            batch.add(Jobs.job("job-" + i, base + (long) everyMs * i, payload));
        }
        jobs.scheduleAll(batch);
        return batch;
    }

    private Set<String> startedTwice(List<Start> ofVictim) {
        Set<String> seen = new HashSet<>();
        Set<String> twice = new HashSet<>();
        ofVictim.stream().map(Start::id).filter(id -> !seen.add(id)).forEach(twice::add);
        runs.all().stream().map(Runs.Run::id).filter(id -> !seen.add(id)).forEach(twice::add);
        return twice;
    }

    @Test
    void shouldEndInOrderWhenItIsAskedToUnderLoad() throws Exception {
        open(2);
        List<NewJob> batch = stream(1500, 5, "sleep:40");
        await("under load").atMost(LONG).until(() -> victim.ends().size() > 50);
        long askedMs = jobs.nowMs();
        victim.terminate();
        int status = victim.exit(ORDERLY_END_MS + 3000);
        long tookMs = jobs.nowMs() - askedMs;
        assertThat(status).as("exit status; its log:%n%s", victim.log()).isZero();
        assertThat(tookMs).as("ms until its end").isLessThan(ORDERLY_END_MS);
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == batch.size());
        List<Start> starts = victim.starts();
        long worstMs = runs.all().stream()
                        .filter(run -> run.dueMs() >= askedMs - 1000 && run.dueMs() < askedMs + 3000)
                        .mapToLong(Runs.Run::latenessUs)
                        .max()
                        .orElse(0)
                / 1000;
        System.out.printf(
                "terminated: ended after ms=%d, had started=%d, worst lateness around it ms=%d, nacked=%d%n",
                tookMs, starts.size(), worstMs, jobs.counter("nacked"));
        assertThat(startedTwice(starts))
                .as(
                        "duplicates; recovered=%d stale=%d leases lost=%d, log of the one that ended:%n%s",
                        workers.counted(Counter.RECOVERED),
                        workers.counted(Counter.STALE),
                        workers.counted(Counter.LEASE_LOST),
                        victim.log())
                .isEmpty();
        assertThat(starts.size() + runs.size()).isEqualTo(batch.size());
        assertThat(victim.ends()).hasSize(starts.size());
        assertThat(starts).allMatch(start -> start.attempt() == 1);
        assertThat(runs.all()).as("no attempt was counted").allMatch(run -> run.attempt() == 1);
        assertThat(worstMs)
                .as("late because of it, ms (2 s, and a busy machine)")
                .isLessThan(4000);
        assertThat(jobs.missing()).isZero();
        assertThat(victim.log()).doesNotContain("RedissonShutdownException");
    }

    @Test
    void shouldGetNothingOutOfBucketsWhoseLeaseItLostWhileItDidNotRun() throws Exception {
        open(1);
        String old = victim.lastStats().nodeId();
        List<NewJob> batch = stream(1600, 10, "sleep:5");
        for (int i = 0; i < 30; i++) {
            batch.add(Jobs.job("long-" + i, jobs.nowMs(), "sleep:8000"));
        }
        jobs.scheduleAll(batch.subList(1600, 1630));
        await("works, long jobs among its own")
                .atMost(LONG)
                .until(() -> victim.starts().size() > 60
                        && victim.starts().stream().anyMatch(start -> start.id().startsWith("long")));
        victim.signal("STOP");
        long stoppedMs = jobs.nowMs();
        await("counts as dead, and its shards are drained")
                .atMost(LONG)
                .until(() -> owned() == SHARDS && runs.all().stream().anyMatch(run -> run.dueMs() > stoppedMs + 3000));
        // Only now: what it said before it was stopped takes a while to be read. Acks of what ended shortly before,
        // within the
        // reply time-out, may not have arrived.
        Set<String> ended = new HashSet<>(victim.ends());
        Set<String> inFlight = victim.starts().stream()
                .filter(start -> !ended.contains(start.id()) || start.startedMs() > stoppedMs - 1000)
                .map(Start::id)
                .collect(Collectors.toCollection(HashSet::new));
        long continuedMs = jobs.nowMs();
        victim.signal("CONT");
        await("comes back under another id").atMost(LONG).until(() -> {
            Stats last = victim.lastStats();
            return last.ready() && !last.nodeId().equals(old) && owned() < SHARDS;
        });
        // Of the topic that flows the other node keeps what it leases until the minute is over: another topic tells
        // sooner.
        for (int i = 0; i < 50; i++) {
            later.now("later-" + i);
        }
        await("and works").atMost(LONG).until(() -> later.counter("done") == 50);
        assertThat(victim.starts()).anyMatch(start -> !start.nodeId().equals(old));
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == batch.size());
        List<Start> starts = victim.starts();
        List<Start> lateStarts = starts.stream()
                .filter(start -> start.nodeId().equals(old) && start.startedMs() >= continuedMs)
                .toList();
        Stats last = victim.lastStats();
        Set<String> twice = startedTwice(starts);
        System.out.printf(
                "paused for ms=%d: in flight=%d started twice=%d started under the old id after it=%d stale=%d fenced=%d"
                        + " leases lost=%d%n",
                continuedMs - stoppedMs,
                inFlight.size(),
                twice.size(),
                lateStarts.size(),
                last.stale(),
                last.fenced(),
                last.leaseLost());
        assertThat(starts.stream().filter(start -> start.nodeId().equals(old) && start.dueMs() > stoppedMs + 500))
                .as("popped by the old owner from buckets whose lease it lost")
                .isEmpty();
        assertThat(last.stale() + last.fenced()).as("STALE or FENCED").isPositive();
        assertThat(last.leaseLost()).isPositive();
        // What was popped and had not started yet belongs to what was in flight, too: at most the slots.
        assertThat(twice).as("duplicates").hasSizeLessThanOrEqualTo(inFlight.size() + lateStarts.size());
        assertThat(lateStarts.size()).isLessThanOrEqualTo(64);
        Set<String> started = new HashSet<>(runs.ids());
        starts.forEach(start -> started.add(start.id()));
        started.removeIf(id -> id.startsWith("later"));
        assertThat(started).as("lost").hasSize(batch.size());
        assertThat(jobs.missing()).isZero();
    }

    @Test
    void shouldChangeNothingWhenItDoesNotRunForAShortWhile() throws Exception {
        open(1);
        String id = victim.lastStats().nodeId();
        int owned = owned();
        List<NewJob> batch = stream(600, 15, "sleep:5");
        await("works").atMost(LONG).until(() -> victim.starts().size() > 20);
        long claimed = workers.counted(Counter.CLAIMED);
        victim.signal("STOP");
        long stoppedMs = jobs.nowMs();
        await("2.5 s of jobs have passed on the other node")
                .atMost(LONG)
                .until(() -> runs.all().stream().anyMatch(run -> run.dueMs() > stoppedMs + 2500));
        victim.signal("CONT");
        await("all done").atMost(LONG).until(() -> jobs.counter("done") == batch.size());
        Stats last = victim.lastStats();
        System.out.printf("paused briefly: leases lost=%d stale=%d%n", last.leaseLost(), last.stale());
        assertThat(last.nodeId()).isEqualTo(id);
        assertThat(last.leaseLost()).as("owner changes").isZero();
        assertThat(last.stale() + last.fenced()).isZero();
        assertThat(owned()).isEqualTo(owned);
        assertThat(workers.counted(Counter.RECOVERED)).isZero();
        // The other claims only what its own shards bring; a new minute may have begun.
        assertThat(workers.counted(Counter.CLAIMED) - claimed).isLessThanOrEqualTo(owned);
        assertThat(startedTwice(victim.starts())).as("duplicates").isEmpty();
        assertThat(victim.starts().size() + runs.size()).isEqualTo(batch.size());
        assertThat(jobs.missing()).isZero();
    }
}
