package io.minutehand.core.store;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * The random calls of one of several processes at once. They share few ids, nodes and minutes, and what they learn from answers, so that most calls
 * meet another one: a resend that something overtook, an ack against a recover, a pop against a break.
 */
final class ConcurrentCalls {
    private static final List<String> IDS = List.of("a", "b", "c", "d:1.1:x", "e");
    private static final int NODES = 4;
    private static final double REPEATED = 0.15;

    /** What all processes know, more or less: it may be out of date, as in life. Thread-safe. */
    static final class Known {
        private static final int REMEMBERED = 12;

        private final AtomicLong nowMs;
        private final AtomicLongArray seqs = new AtomicLongArray(NODES + 1);
        private final List<HandedJob> handed = new ArrayList<>();
        private final List<ModelOp> sent = new ArrayList<>();
        private final Map<String, Long> deaths = new ConcurrentHashMap<>();
        private final Map<Long, Long> holders = new ConcurrentHashMap<>();

        Known(long nowMs) {
            this.nowMs = new AtomicLong(nowMs);
        }

        long nowMs() {
            return nowMs.get();
        }

        /** Moves the clock, all are told. */
        long passed(long ms) {
            return nowMs.addAndGet(ms);
        }

        void handed(List<HandedJob> jobs) {
            jobs.forEach(job -> remember(handed, job));
        }

        /** Learns from an answer that is not about jobs handed out. */
        void answered(ModelOp call, String answer) {
            if (call instanceof ModelOp.Bury bury && !answer.equals("Optional.empty")) {
                deaths.put(bury.job().job().id(), nowMs.get());
            } else if (call instanceof ModelOp.Claim claim && answer.equals("true")) {
                holders.put(claim.minute(), claim.node());
            }
        }

        private synchronized <T> void remember(List<T> list, T thing) {
            list.add(thing);
            if (list.size() > REMEMBERED) {
                list.remove(0);
            }
        }

        private synchronized <T> T one(List<T> list, Random random, Supplier<T> otherwise) {
            return list.isEmpty() ? otherwise.get() : list.get(random.nextInt(list.size()));
        }
    }

    private final Random random;
    private final Known known;
    private final List<Weighted> kinds = List.of(
            new Weighted(20, this::schedule),
            new Weighted(18, this::pop),
            new Weighted(10, () -> new ModelOp.Ack(List.of(oneHanded(), oneHanded()), chance(0.7))),
            new Weighted(7, () -> new ModelOp.Retry(oneHanded(), due(), chance(0.6), chance(0.5) ? "broken" : "")),
            new Weighted(7, () -> new ModelOp.Bury(oneHanded(), "gave up")),
            new Weighted(
                    3,
                    () -> new ModelOp.Extend(
                            List.of(oneHanded().receipt(), oneHanded().receipt()))),
            new Weighted(6, this::recover),
            new Weighted(6, () -> new ModelOp.Cancel(id(), chance(0.5))),
            new Weighted(6, () -> new ModelOp.Reschedule(id(), due())),
            new Weighted(4, () -> ofDead((id, diedAt) -> new ModelOp.Redrive(id, diedAt, due()))),
            new Weighted(2, () -> ofDead(ModelOp.Purge::new)),
            new Weighted(8, () -> new ModelOp.Claim(node(), minute(), true)),
            new Weighted(2, () -> new ModelOp.Renew(node(), List.of(minute(), minute()))),
            new Weighted(4, () -> new ModelOp.Release(node(), List.of(minute(), minute()), chance(0.5))),
            new Weighted(2, () -> new ModelOp.Find(id())),
            new Weighted(2, () -> new ModelOp.Look(minute(), minute())),
            new Weighted(4, ModelOp.Audit::new));
    private ModelOp again;

    ConcurrentCalls(long seed, Known known) {
        this.random = new Random(seed);
        this.known = known;
    }

    /** The next call: a new one, the last one again, or what another process sent lately. */
    ModelOp next() {
        if (again != null) {
            ModelOp call = again;
            again = null;
            return new ModelOp.Repeat(call);
        }
        if (chance(REPEATED)) {
            return new ModelOp.Repeat(known.one(known.sent, random, ModelOp.Audit::new));
        }
        ModelOp call = Weighted.draw(kinds, random);
        known.remember(known.sent, call);
        again = chance(REPEATED) ? call : null;
        return call;
    }

    private ModelOp schedule() {
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            boolean replace = chance(0.5);
            String digest = chance(0.6) ? "1" : "2";
            jobs.add(new NewJob(
                    id(),
                    due(),
                    TestStore.digest(digest),
                    replace,
                    TestStore.body(digest),
                    replace && chance(0.8) ? minute() : 0));
        }
        return new ModelOp.Schedule(jobs);
    }

    private ModelOp pop() {
        long minute = minute();
        long node = chance(0.8) ? known.holders.getOrDefault(minute, node()) : node();
        return new ModelOp.Pop(node, minute, known.seqs.incrementAndGet((int) node), 1 + random.nextInt(3));
    }

    private ModelOp recover() {
        long node = node();
        String from = chance(0.2) ? "" : Long.toString(node());
        return new ModelOp.Recover(node, known.seqs.incrementAndGet((int) node), 1 + random.nextInt(3), from);
    }

    private HandedJob oneHanded() {
        return known.one(
                known.handed,
                random,
                () -> ModelOp.handed(new Receipt(1, "7", 1, ShardMap.memberOf(id())), TestStore.digest("1")));
    }

    private ModelOp ofDead(BiFunction<String, Long, ModelOp> call) {
        String id = id();
        return call.apply(id, known.deaths.getOrDefault(id, known.nowMs()));
    }

    private long due() {
        List<Long> steps = List.of(-70_000L, -1L, 0L, 0L, 0L, 1L, 500L, 60_000L);
        return known.nowMs() + steps.get(random.nextInt(steps.size()));
    }

    /** Most often the present one, in which most jobs are due. */
    private long minute() {
        return Minutes.of(known.nowMs()) + (chance(0.7) ? 0 : random.nextInt(3) - 1);
    }

    private String id() {
        return IDS.get(random.nextInt(IDS.size()));
    }

    private long node() {
        return 1 + random.nextInt(NODES);
    }

    private boolean chance(double probability) {
        return random.nextDouble() < probability;
    }
}
