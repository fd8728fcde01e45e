package io.minutehand.core.store;

import static io.minutehand.core.store.ModelOp.handed;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;

/**
 * Makes calls at random, but not blindly: it looks at the model, so that most receipts are good, most pops have the lease, and the rest are the
 * stale and foreign ones that a scheduler meets. Three of ten calls are sent again, at once or after up to five others. In every fourth sequence
 * somebody writes entries into buckets by hand.
 */
final class RandomCalls {
    private static final List<String> IDS = List.of("a", "b", "c", "d:1.1:x", "e", "f");
    private static final double REPEATED = 0.3;

    private record Later(int atCall, ModelOp call) {}

    private final Random random;
    private final ShardModel model;
    private final List<Weighted> kinds;
    private final List<HandedJob> handed = new ArrayList<>();
    private final Map<Long, Long> lastSeq = new HashMap<>();
    private final Deque<Later> later = new ArrayDeque<>();
    private ModelOp atOnce;
    private int made;

    RandomCalls(long seed, ShardModel model) {
        this.random = new Random(seed);
        this.model = model;
        this.kinds = List.of(
                new Weighted(20, this::schedule),
                new Weighted(18, this::pop),
                new Weighted(10, () -> new ModelOp.Ack(someHanded(), chance(0.7))),
                new Weighted(7, () -> new ModelOp.Retry(oneHanded(), due(), chance(0.6), chance(0.5) ? "broken" : "")),
                new Weighted(8, () -> new ModelOp.Bury(oneHanded(), "gave up")),
                new Weighted(
                        4,
                        () -> new ModelOp.Extend(
                                someHanded().stream().map(HandedJob::receipt).toList())),
                new Weighted(8, this::recover),
                new Weighted(7, () -> new ModelOp.Cancel(id(), chance(0.7))),
                new Weighted(7, () -> new ModelOp.Reschedule(id(), due())),
                new Weighted(6, () -> ofDead((id, diedAt) -> new ModelOp.Redrive(id, diedAt, due()))),
                new Weighted(4, () -> ofDead(ModelOp.Purge::new)),
                new Weighted(10, () -> new ModelOp.Claim(node(), minute(), chance(0.5))),
                new Weighted(2, () -> new ModelOp.Renew(node(), List.of(minute(), minute()))),
                new Weighted(4, () -> new ModelOp.Release(node(), List.of(minute(), minute()), chance(0.5))),
                new Weighted(12, this::advance),
                new Weighted(seed % 4 == 0 ? 6 : 0, () -> new ModelOp.Stray(id(), minute(), due())),
                new Weighted(3, () -> new ModelOp.Find(id())),
                new Weighted(3, () -> new ModelOp.Look(minute(), minute())));
    }

    /** The next call. */
    ModelOp next() {
        made++;
        if (atOnce != null) {
            ModelOp call = atOnce;
            atOnce = null;
            return call;
        }
        if (!later.isEmpty() && later.peek().atCall <= made) {
            return later.remove().call;
        }
        return Weighted.draw(kinds, random);
    }

    /** Takes note of a call that model and store answered alike. */
    void sent(ModelOp call) {
        model.calls.forEach((node, last) -> last.receipts().forEach(this::remember));
        if (call instanceof ModelOp.Repeat
                || call instanceof ModelOp.Advance
                || call instanceof ModelOp.Stray
                || !chance(REPEATED)) {
            return;
        }
        if (chance(0.5)) {
            atOnce = new ModelOp.Repeat(call);
        } else {
            later.add(new Later(made + 1 + random.nextInt(5), new ModelOp.Repeat(call)));
        }
    }

    private void remember(String text) {
        if (handed.stream().anyMatch(job -> job.receipt().toString().equals(text))) {
            return;
        }
        String[] parts = text.split(":", 3);
        int dot = parts[1].indexOf('.');
        Receipt receipt = new Receipt(
                Integer.parseInt(parts[0]),
                parts[1].substring(0, dot),
                Long.parseLong(parts[1].substring(dot + 1)),
                parts[2]);
        ShardModel.Entry job = model.jobs.get(ShardMap.idOf(parts[2]));
        if (job != null) {
            handed.add(handed(receipt, job.digest));
        }
    }

    private ModelOp schedule() {
        List<NewJob> jobs = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            String id = id();
            ShardModel.Entry old = model.jobs.get(id);
            long from = old != null && chance(0.7) ? old.minute : chance(0.5) ? 0 : minute();
            boolean replace = chance(0.4);
            String digest = chance(0.7) ? "1" : "2";
            jobs.add(new NewJob(
                    id, due(), TestStore.digest(digest), replace, TestStore.body(digest), replace ? from : 0));
        }
        return new ModelOp.Schedule(jobs);
    }

    private ModelOp pop() {
        long node = node();
        long minute = minute();
        if (chance(0.8)) {
            List<Map.Entry<Long, ShardModel.Lease>> held = List.copyOf(model.leases.entrySet());
            if (!held.isEmpty()) {
                Map.Entry<Long, ShardModel.Lease> one = held.get(random.nextInt(held.size()));
                minute = one.getKey();
                node = one.getValue().node();
            }
        }
        return new ModelOp.Pop(node, minute, lastSeq.merge(node, 1L, Long::sum), 1 + random.nextInt(3));
    }

    private ModelOp recover() {
        long node = node();
        String from = chance(0.5) ? "" : Long.toString(node());
        return new ModelOp.Recover(node, lastSeq.merge(node, 1L, Long::sum), 1 + random.nextInt(3), from);
    }

    private ModelOp advance() {
        long second = model.now % Minutes.MS;
        long step = List.of(1L, 500L, 5000L).get(random.nextInt(3));
        if (chance(0.5) && second + step <= 35_000) {
            return new ModelOp.Advance(model.now + step);
        }
        // Never near the end of a minute: the store's estimate of the clock runs on between two calls.
        long minutes = chance(0.7) ? 1 : 2 + random.nextInt(4);
        return new ModelOp.Advance((Minutes.of(model.now) + minutes) * Minutes.MS + 5000 + random.nextInt(15_000));
    }

    private List<HandedJob> someHanded() {
        List<HandedJob> some = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            some.add(oneHanded());
        }
        return some;
    }

    /** Most often a receipt that is in flight, else one of the past, else one that never was. */
    private HandedJob oneHanded() {
        List<HandedJob> good = handed.stream().filter(this::inFlight).toList();
        if (!good.isEmpty() && chance(0.75)) {
            return good.get(random.nextInt(good.size()));
        }
        if (!handed.isEmpty() && chance(0.8)) {
            return handed.get(random.nextInt(handed.size()));
        }
        return handed(new Receipt(1, "7", 1, ShardMap.memberOf(id())), TestStore.digest("1"));
    }

    private boolean inFlight(HandedJob job) {
        ShardModel.Entry entry = model.jobs.get(job.job().id());
        return entry != null && job.receipt().toString().equals(entry.receipt);
    }

    /** Most often a dead letter with the time of its death, else with another time, else another job. */
    private ModelOp ofDead(BiFunction<String, Long, ModelOp> call) {
        List<ShardModel.Entry> dead =
                model.jobs.values().stream().filter(job -> job.state == 'X').toList();
        if (dead.isEmpty() || chance(0.2)) {
            return call.apply(id(), model.now);
        }
        ShardModel.Entry one = dead.get(random.nextInt(dead.size()));
        return call.apply(one.id, chance(0.7) ? one.since : model.now + 1);
    }

    private long due() {
        List<Long> steps = List.of(-70_000L, -1L, 0L, 0L, 1L, 500L, 5000L, 60_000L, 130_000L);
        return model.now + steps.get(random.nextInt(steps.size()));
    }

    private long minute() {
        List<Long> used = model.jobs.values().stream().map(job -> job.minute).toList();
        return !used.isEmpty() && chance(0.7)
                ? used.get(random.nextInt(used.size()))
                : Minutes.of(model.now) - 1 + random.nextInt(4);
    }

    private String id() {
        return IDS.get(random.nextInt(IDS.size()));
    }

    private long node() {
        return 1 + random.nextInt(2);
    }

    private boolean chance(double probability) {
        return random.nextDouble() < probability;
    }
}
