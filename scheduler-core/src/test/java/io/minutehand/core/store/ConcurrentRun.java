package io.minutehand.core.store;

import io.minutehand.core.bucket.Minutes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Eight processes that call at once on one shard, a round on a shard of its own. A round has phases: within one the clock moves a little while
 * calls run; between two nobody calls, all answers are compared with the model by {@link History}, then what Redis holds, and the clock goes on
 * to another minute.
 */
final class ConcurrentRun implements AutoCloseable {
    static final int PROCESSES = 8;

    /**
     * The second of its minute at which each phase begins. Keys live for a minute, or for five: so none ends within a phase, whose clock goes on by
     * {@link #STEPS_MS} at most. What ends between two phases is deleted by hand, since the server's own clock knows nothing of it.
     */
    private static final List<Integer> PHASES = List.of(20, 5, 30, 40);

    private static final int CALLS = 40;
    private static final int SHOWN = 40;
    private static final long PATIENCE_S = 60;

    private static final long STEPS_MS = 6_000;

    private final TestStore store;
    private final ModelRun.Sender sender;
    private final EventLog log;
    private final List<TestStore> processes = new ArrayList<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(PROCESSES);
    private final CyclicBarrier together = new CyclicBarrier(PROCESSES);
    private final Map<String, Integer> answers = new TreeMap<>();
    private int events;
    private int overtaken;

    /** With the scripts of a store, which looks on. */
    ConcurrentRun(TestStore store, ModelRun.Sender sender) {
        this.store = store;
        this.sender = sender;
        this.log = new EventLog(store);
        for (int process = 0; process < PROCESSES; process++) {
            processes.add(store.another(log.as(process)));
        }
    }

    ConcurrentRun(TestStore store) {
        this(store, ModelRun.PLAIN);
    }

    /** Scripts that ran so far. */
    int events() {
        return events;
    }

    /** Calls so far that ran after one that was called later. */
    int overtaken() {
        return overtaken;
    }

    /** How often which script answered what so far. */
    Map<String, Integer> answers() {
        return answers;
    }

    /** Runs a round. The seed decides what each process wants to call, not which call comes first. */
    Optional<ModelRun.Failure> round(long seed) {
        store.freshShard();
        ShardModel model = new ShardModel();
        History history = new History(model);
        ConcurrentCalls.Known known = new ConcurrentCalls.Known(model.now);
        List<ConcurrentCalls> calls = new ArrayList<>();
        for (int process = 0; process < PROCESSES; process++) {
            calls.add(new ConcurrentCalls(seed * PROCESSES + process, known));
        }
        Optional<String> difference = Optional.empty();
        for (int phase = 0; phase < PHASES.size() && difference.isEmpty(); phase++) {
            if (phase > 0) {
                advance(model, history, known, (seed + phase) % 3 == 0 ? 3 : 1, PHASES.get(phase));
            }
            meet(known.nowMs());
            Map<Integer, List<History.Sent>> sent = phase(calls, known);
            difference = history.replay(log.take(), sent).or(() -> whole(model));
        }
        events += history.events();
        overtaken += history.overtaken();
        history.answers().forEach((answer, times) -> answers.merge(answer, times, Integer::sum));
        return difference.map(what -> new ModelRun.Failure(history.order(), what));
    }

    /**
     * What to tell of a round that failed: the fewest calls that fail one after the other, too; or, of what takes calls at once, the last of
     * them.
     */
    ModelRun.Failure smallest(ModelRun.Failure failure) {
        Optional<ModelRun.Failure> inOrder = ModelRun.replay(store, sender, failure.calls());
        if (inOrder.isPresent()) {
            return ModelRun.shrink(store, sender, inOrder.get());
        }
        List<ModelOp> calls = failure.calls();
        return new ModelRun.Failure(
                calls.subList(Math.max(0, calls.size() - SHOWN), calls.size()),
                failure.difference() + " (not when called one after the other)");
    }

    private void advance(ShardModel model, History history, ConcurrentCalls.Known known, int minutes, int second) {
        long nowMs = (Minutes.of(model.now) + minutes) * Minutes.MS + second * 1000L;
        ModelOp.Advance advance = new ModelOp.Advance(nowMs);
        ModelRun.advance(model, advance, store);
        history.advanced(advance);
        known.passed(nowMs - known.nowMs());
    }

    /** Lets all processes see shard and clock as they are. */
    private void meet(long nowMs) {
        store.now(nowMs);
        for (TestStore process : processes) {
            process.follow(store);
            process.now(nowMs);
        }
        log.take();
    }

    private Map<Integer, List<History.Sent>> phase(List<ConcurrentCalls> calls, ConcurrentCalls.Known known) {
        Map<Integer, Future<List<History.Sent>>> running = new HashMap<>();
        long endMs = known.nowMs() + STEPS_MS;
        for (int process = 0; process < PROCESSES; process++) {
            int number = process;
            running.put(process, threads.submit(() -> call(number, calls.get(number), known, endMs)));
        }
        Map<Integer, List<History.Sent>> sent = new HashMap<>();
        try {
            for (Map.Entry<Integer, Future<List<History.Sent>>> process : running.entrySet()) {
                sent.put(process.getKey(), process.getValue().get(PATIENCE_S, TimeUnit.SECONDS));
            }
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException("a process did not come to its end: " + e, e);
        }
        return sent;
    }

    private List<History.Sent> call(int number, ConcurrentCalls calls, ConcurrentCalls.Known known, long endMs)
            throws InterruptedException, BrokenBarrierException {
        TestStore process = processes.get(number);
        List<History.Sent> sent = new ArrayList<>();
        together.await();
        for (int i = 0; i < CALLS; i++) {
            if (number == 0 && i % 4 == 0) {
                step(process, known, List.of(1L, 500L, 1000L).get(i % 3), endMs);
            }
            ModelOp call = calls.next();
            long calledNs = System.nanoTime();
            String answer = answer(process, call, known);
            sent.add(new History.Sent(call, answer, calledNs, System.nanoTime()));
        }
        return sent;
    }

    /** One of the processes moves the clock, too, while the others call. */
    private static void step(TestStore process, ConcurrentCalls.Known known, long ms, long endMs) {
        if (known.nowMs() + ms < endMs) {
            process.nowUs((known.nowMs() + ms) * 1000);
            known.passed(ms);
        }
    }

    private String answer(TestStore process, ModelOp call, ConcurrentCalls.Known known) {
        ModelOp plain = call instanceof ModelOp.Repeat repeat ? repeat.call() : call;
        try {
            if (plain instanceof ModelOp.HandsOut handsOut) {
                Handout handout = handsOut.handout(process);
                known.handed(handout.jobs());
                return ModelOp.shown(handout);
            }
            String answer = sender.send(process, plain);
            known.answered(plain, answer);
            return answer;
        } catch (RuntimeException failed) {
            return "the store threw " + failed;
        }
    }

    private Optional<String> whole(ShardModel model) {
        ShardImage image = store.image();
        ShardImage modelled = model.image();
        if (!image.equals(modelled)) {
            return Optional.of(
                    "what Redis holds differs from the model:\n  " + String.join("\n  ", image.since(modelled)));
        }
        List<String> broken = ShardInvariants.broken(image);
        return broken.isEmpty() ? Optional.empty() : Optional.of("invariants are broken: " + broken);
    }

    @Override
    public void close() {
        threads.shutdownNow();
        processes.forEach(TestStore::close);
    }
}
