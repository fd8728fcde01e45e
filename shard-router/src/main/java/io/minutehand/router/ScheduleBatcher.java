package io.minutehand.router;

import io.minutehand.core.store.CallPace;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.WriteResult;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Groups jobs by shard and sends them.
 *
 * <p>Callers add to one queue; the router's loop moves what is there to the lanes of its shards and sends from each lane that has no write under
 * way whatever it holds, up to a batch. So a lone job leaves at once, and the busier Redis is, the larger batches become: jobs gather during the
 * round trip of the batch before. When very many flow, a lane pauses between two
 * writes, 11 ms at most ({@link CallPace}). One write a shard keeps the order of calls, which replacing jobs and a cancel right after its schedule
 * rely on; a second one under way bought nothing (shards run side by side as it is).
 *
 * <p>A job that is still in its lane at its deadline was never sent, and its answer is NOT_STORED. What is said of a job is decided on the loop,
 * once; {@link Callbacks} says it. Only {@link #submit} and {@link #route} are for other threads.
 */
final class ScheduleBatcher implements RouterLoop.Duty {
    private static final Logger log = LoggerFactory.getLogger(ScheduleBatcher.class);

    /** Calls moved to their lanes between two looks at Redis's replies. */
    private static final int STEP = 4096;

    /** How often deadlines are looked at while calls are under way. */
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** How often the age of clock samples is looked at, and the settings of topics are read again: a cancel leaves a tombstone as long as they say. */
    private static final long CLOCKS_NS = TimeUnit.SECONDS.toNanos(5);

    /**
     * The deadlines within a batch differ by at most this part of the deadline. What gathers in a lane while a call waits for its reply must fit
     * into few batches: each may lose its reply as well, and a lane that gathers faster than it sends answers nothing in time any more.
     */
    private static final int SPANS = 10;

    /** With so few calls waiting or under way in all, no lane waits for more: whoever makes them may wait for their answers first. */
    private static final int COMPANY = 4;

    private static final long WARNING_NS = TimeUnit.SECONDS.toNanos(1);

    /** A tombstone must outlive the last repeat of a call by this. */
    static final Duration RETENTION_MARGIN = Duration.ofSeconds(2);

    private final RouterLoop loop;
    private final Backend backend;
    private final Callbacks callbacks;
    private final Telemetry telemetry;
    private final Duration deadline;
    private final Map<String, Route> routes = new ConcurrentHashMap<>();
    private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();
    private final ArrayDeque<Lane> dirty = new ArrayDeque<>();

    /** Lanes that wait a little for more jobs. */
    private final List<Lane> paused = new ArrayList<>();

    private long lookedNs = System.nanoTime();
    private long clocksNs = System.nanoTime();
    private long warnedNs = System.nanoTime() - WARNING_NS;
    private long unwarned;
    /** Calls under way or waiting, so that the loop knows how long it may sleep. */
    private long open;

    ScheduleBatcher(RouterLoop loop, Backend backend, Callbacks callbacks, Telemetry telemetry, Duration deadline) {
        this.loop = loop;
        this.backend = backend;
        this.callbacks = callbacks;
        this.telemetry = telemetry;
        this.deadline = deadline;
    }

    /** The route of a topic; the name is checked already. Thread-safe. */
    Route route(String topic) {
        return routes.computeIfAbsent(topic, name -> new Route(name, callbacks));
    }

    /** Takes a call over. Thread-safe; does not block. */
    void submit(Arrival call) {
        Lane lane = call.route().laneOf(call.id());
        if (call instanceof WaitingJob job) {
            if (lane == null) {
                job.letGoOfPayload();
            } else {
                // On the caller's thread: digests are the dearest part of a call, and callers are many.
                job.prepare(backend.serverUs(lane.shard()));
            }
        }
        arrivals.add(call);
        // The end of a write under way or of a pause wakes the loop anyhow.
        if (lane == null || !lane.attended()) {
            loop.wake();
        }
    }

    @Override
    public boolean ready() {
        return !arrivals.isEmpty();
    }

    @Override
    public long sleepNs() {
        long sleepNs = open > 0 || callbacks.pending() ? LOOK_NS : CLOCKS_NS;
        long nowNs = System.nanoTime();
        for (Lane lane : paused) {
            sleepNs = Math.min(sleepNs, Math.max(1, lane.pauseNs(nowNs)));
        }
        return sleepNs;
    }

    @Override
    public int runOnce(long nowNs) {
        int done = 0;
        Arrival call;
        while (done < STEP && (call = arrivals.poll()) != null) {
            open++;
            place(call);
            done++;
        }
        if (nowNs - lookedNs >= LOOK_NS) {
            lookedNs = nowNs;
            expire(nowNs);
            callbacks.tick();
        }
        if (nowNs - clocksNs >= CLOCKS_NS) {
            clocksNs = nowNs;
            if (routes.values().stream().anyMatch(Route::known)) {
                backend.refreshKnown(nowNs);
            }
            routes.values().stream()
                    .filter(Route::known)
                    .forEach(route -> backend.lookAtClocks(route.settings(), nowNs + deadline.toNanos()));
        }
        for (Lane over : paused) {
            if (over.pauseNs(System.nanoTime()) <= 0) {
                mark(over);
            }
        }
        Lane lane;
        while ((lane = dirty.poll()) != null) {
            lane.clearDirty();
            send(lane);
            done++;
        }
        return done;
    }

    private void place(Arrival call) {
        Route route = call.route();
        Lane lane = route.laneOf(call.id());
        if (lane == null) {
            route.waiting().add(call);
            ask(route, call.deadlineNs());
            return;
        }
        if (call instanceof WaitingJob job) {
            job.prepare(backend.serverUs(lane.shard()));
            lane.add(job);
        } else if (call instanceof WaitingOrder<?> order) {
            lane.add(order);
        }
        mark(lane);
    }

    private void mark(Lane lane) {
        if (lane.markDirty()) {
            dirty.add(lane);
        }
    }

    /** Asks for a topic's settings, if nobody has yet. */
    private void ask(Route route, long deadlineNs) {
        if (route.asking()) {
            return;
        }
        route.asking(true);
        guarded(() -> backend.ensure(route.topic(), deadlineNs))
                .whenComplete((stored, failure) -> loop.execute(() -> told(route, stored, failure)));
    }

    private void told(Route route, @Nullable StoredTopic stored, @Nullable Throwable failure) {
        route.asking(false);
        if (stored != null) {
            learn(route, stored);
            List<Arrival> waited = List.copyOf(route.waiting());
            route.waiting().clear();
            waited.forEach(this::place);
            return;
        }
        Throwable cause = Causes.of(Objects.requireNonNull(failure));
        if (Causes.mayPass(cause)) {
            expire(System.nanoTime());
            Arrival next = route.waiting().peekLast();
            if (next != null) {
                ask(route, next.deadlineNs());
            }
            return;
        }
        telemetry.count(Counter.STORE_ERRORS, route.topic(), 1);
        route.waiting().forEach(call -> refuse(call, cause));
        route.waiting().clear();
        callbacks.wake();
    }

    private void learn(Route route, StoredTopic stored) {
        route.learn(stored);
        TopicSettings settings = stored.settings();
        if (!settings.retention().isZero() && settings.retention().compareTo(deadline.plus(RETENTION_MARGIN)) < 0) {
            log.warn(
                    "router: a call that is repeated until its deadline may store a job twice, tombstones go earlier topic={} "
                            + "retention={} deadline={}; raise the topic's retention or lower the router's deadline",
                    route.topic(),
                    settings.retention(),
                    deadline);
        }
    }

    private void refuse(Arrival call, Throwable refusal) {
        if (call instanceof WaitingJob job) {
            if (job.fail(refusal)) {
                telemetry.count(Counter.SCHEDULE_FAILED, job.route().topic(), 1);
                deliver(job);
            }
        } else if (call instanceof WaitingOrder<?> order) {
            open--;
            order.fail(refusal);
        }
    }

    private void send(Lane lane) {
        long nowNs = System.nanoTime();
        boolean pausing = open > COMPANY && lane.pauseNs(nowNs) > 0;
        if (lane.pausing(pausing)) {
            if (pausing) {
                paused.add(lane);
            } else {
                paused.remove(lane);
            }
        }
        List<WaitingJob> batch = pausing ? List.of() : lane.nextBatch(deadline.toNanos() / SPANS, nowNs);
        if (!batch.isEmpty()) {
            List<NewJob> jobs = new ArrayList<>(batch.size());
            for (WaitingJob job : batch) {
                jobs.add(job.job());
            }
            // Repeats go on for as long as any job of the batch may still be stored.
            long deadlineNs = batch.get(batch.size() - 1).deadlineNs();
            guarded(() -> backend.write(view(batch.get(0).route()), jobs, deadlineNs))
                    .whenComplete((results, failure) -> loop.execute(() -> written(lane, batch, results, failure)));
        }
        WaitingOrder<?> order;
        while ((order = lane.nextOrder()) != null) {
            WaitingOrder<?> started = order;
            guarded(() -> started.start(view(started.route())))
                    .whenComplete((done, failure) -> loop.execute(() -> ordered(lane, started, failure)));
        }
    }

    /** The topic's settings as the registry knows them; while it reads them anew, as they were. */
    private StoredTopic view(Route route) {
        backend.known(route.topic()).ifPresent(route::learn);
        return route.settings();
    }

    private void written(
            Lane lane, List<WaitingJob> batch, @Nullable List<WriteResult> results, @Nullable Throwable failure) {
        lane.writeEnded();
        mark(lane);
        // Counted before it is said, so that who has an answer finds it counted.
        if (results != null) {
            count(lane, results);
            for (int i = 0; i < batch.size(); i++) {
                WriteResult result = results.get(i);
                if (batch.get(i).settle(statusOf(result.status()), result.state())) {
                    deliver(batch.get(i));
                }
            }
        } else {
            Throwable cause = Causes.of(Objects.requireNonNull(failure));
            telemetry.count(Counter.SCHEDULE_FAILED, lane.shard().topic(), batch.size());
            trouble(lane, batch.size(), "refused: " + cause);
            for (WaitingJob job : batch) {
                if (job.fail(cause)) {
                    deliver(job);
                }
            }
        }
        callbacks.wake();
    }

    private void count(Lane lane, List<WriteResult> results) {
        int accepted = 0;
        Status trouble = null;
        for (WriteResult result : results) {
            Status status = statusOf(result.status());
            accepted += status.accepted() ? 1 : 0;
            trouble = isStoreTrouble(status) ? status : trouble;
        }
        String topic = lane.shard().topic();
        if (accepted > 0) {
            telemetry.count(Counter.SCHEDULED, topic, accepted);
        }
        if (accepted < results.size()) {
            telemetry.count(Counter.SCHEDULE_FAILED, topic, results.size() - accepted);
        }
        if (trouble != null) {
            trouble(lane, results.size() - accepted, trouble.name());
        }
    }

    private void ordered(Lane lane, WaitingOrder<?> order, @Nullable Throwable bug) {
        if (bug != null) {
            order.fail(bug);
        }
        open--;
        lane.orderEnded(order);
        mark(lane);
    }

    private void expire(long nowNs) {
        for (Route route : routes.values()) {
            for (Lane lane : route.lanes()) {
                lane.expire(nowNs, this::unsent, this::late);
            }
            while (!route.waiting().isEmpty()
                    && nowNs - route.waiting().element().deadlineNs() >= 0) {
                Arrival call = route.waiting().remove();
                if (call instanceof WaitingJob job) {
                    unsent(job);
                } else if (call instanceof WaitingOrder<?> order) {
                    late(order);
                }
            }
        }
        callbacks.wake();
    }

    private void unsent(WaitingJob job) {
        if (job.settle(Status.NOT_STORED, null)) {
            telemetry.count(Counter.SCHEDULE_FAILED, job.route().topic(), 1);
            deliver(job);
        }
    }

    private void late(WaitingOrder<?> order) {
        open--;
        order.settleLate(null);
    }

    private void deliver(WaitingJob job) {
        open--;
        callbacks.add(job);
    }

    /** Answers all calls that have no answer yet: the router ends. On the loop only. */
    void abandon() {
        Arrival call;
        while ((call = arrivals.poll()) != null) {
            open++;
            call.route().waiting().add(call);
        }
        for (Route route : routes.values()) {
            for (Lane lane : route.lanes()) {
                lane.abandon(
                        this::unsent,
                        job -> {
                            if (job.settle(Status.UNKNOWN, null)) {
                                deliver(job);
                            }
                        },
                        this::late);
            }
            Arrival waiting;
            while ((waiting = route.waiting().poll()) != null) {
                if (waiting instanceof WaitingJob job) {
                    unsent(job);
                } else if (waiting instanceof WaitingOrder<?> order) {
                    late(order);
                }
            }
        }
        callbacks.wake();
    }

    private static <T> CompletableFuture<T> guarded(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException bug) {
            return CompletableFuture.failedFuture(bug);
        }
    }

    /** Counts a failed write, and says so in one line a second at most: an outage must not flood the log. */
    private void trouble(Lane lane, int jobs, String what) {
        telemetry.count(Counter.STORE_ERRORS, lane.shard().topic(), 1);
        long nowNs = System.nanoTime();
        unwarned += jobs;
        if (nowNs - warnedNs >= WARNING_NS) {
            log.warn("router: jobs not stored as wanted shard={} jobs={} status={}", lane.shard(), unwarned, what);
            warnedNs = nowNs;
            unwarned = 0;
        }
    }

    private static boolean isStoreTrouble(Status status) {
        return status == Status.STORED_NOT_REPLICATED
                || status == Status.STORE_FULL
                || status == Status.NOT_STORED
                || status == Status.UNKNOWN;
    }

    static Status statusOf(WriteResult.Status status) {
        return switch (status) {
            case CREATED -> Status.CREATED;
            case EXISTS -> Status.EXISTS;
            case CONFLICT -> Status.CONFLICT;
            case REPLACED -> Status.REPLACED;
            case RUNNING -> Status.RUNNING;
            case STORED_NOT_REPLICATED -> Status.STORED_NOT_REPLICATED;
            case STORE_FULL -> Status.STORE_FULL;
            case NOT_STORED -> Status.NOT_STORED;
            case UNKNOWN -> Status.UNKNOWN;
        };
    }
}
