package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.AdminStore;
import io.minutehand.core.store.AdminStore.BucketView;
import io.minutehand.core.store.AuditStore;
import io.minutehand.core.store.AuditStore.Page;
import io.minutehand.core.store.AuditStore.Place;
import io.minutehand.core.store.ClusterStore;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.store.ShardStats;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.write.JobAccess;
import io.minutehand.core.write.Resharding;
import io.minutehand.core.write.TopicRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A look at a running cluster, and what can be done to single jobs. Calls block, repeat what fails in passing for the patience given, then throw
 * {@link StoreException}; none keeps more in memory than it answers. Thread-safe.
 */
public final class Admin {
    /** Shards that are asked at the same time. */
    private static final int AT_ONCE = 16;

    /** How often the beats are read while their age is found out. */
    private static final long BEATS_EVERY_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final StoreConnection connection;
    private final Duration patience;
    private final ClusterStore cluster;
    private final JobStore jobs;
    private final AuditStore audits;
    private final AdminStore store;
    private final JobAccess access;

    /** On a connection, which stays the caller's; {@code patience} is for each call on Redis. */
    public Admin(StoreConnection connection, Duration patience) {
        this.connection = connection;
        this.patience = patience;
        this.cluster = connection.cluster(ForkJoinPool.commonPool());
        this.jobs = connection.jobs(ForkJoinPool.commonPool());
        this.audits = connection.audits(ForkJoinPool.commonPool());
        this.store = connection.admin(ForkJoinPool.commonPool());
        this.access = new JobAccess(jobs, new TopicRegistry(cluster, Map.of(), false));
    }

    /** The dead letters of a topic. */
    public DeadLetters deadLetters(StoredTopic topic) {
        return new DeadLetters(store, jobs, topic, patience);
    }

    private long deadlineNs() {
        return System.nanoTime() + patience.toNanos();
    }

    /** All topics with readable settings, by name. */
    public List<StoredTopic> topics() {
        return Audit.waiting(() -> cluster.topics(deadlineNs()).join().stream()
                .sorted(Comparator.comparing(StoredTopic::topic))
                .toList());
    }

    /** Names of topics whose settings cannot be read, sorted: they are of a newer version, or were changed by hand. */
    public List<String> unreadableTopics() {
        return Audit.waiting(() ->
                cluster.unreadableTopics(deadlineNs()).join().stream().sorted().toList());
    }

    /** A topic, or nothing when it is not declared: nobody has used it, or Redis came back empty. */
    public Optional<StoredTopic> topic(String name) {
        return topics().stream().filter(stored -> stored.topic().equals(name)).findFirst();
    }

    /**
     * A shard as it is now.
     *
     * @param shard which
     * @param server host and port of the primary that holds it
     * @param stats its counters and sizes
     */
    public record ShardView(ShardId shard, String server, ShardStats stats) {}

    /** The shards of a topic, in order: all that hold or may soon hold jobs. */
    public List<ShardView> shards(StoredTopic topic) {
        return Audit.waiting(() -> {
            List<ShardView> views = new ArrayList<>();
            List<ShardId> shards = topic.shards();
            for (int from = 0; from < shards.size(); from += AT_ONCE) {
                List<CompletableFuture<ShardView>> some =
                        shards.subList(from, Math.min(shards.size(), from + AT_ONCE)).stream()
                                .map(shard -> audits.stats(shard, deadlineNs())
                                        .thenApply(stats -> new ShardView(shard, connection.serverOf(shard), stats)))
                                .toList();
                some.forEach(view -> views.add(view.join()));
            }
            return views;
        });
    }

    /**
     * Passes the buckets of a shard on, oldest minute first.
     *
     * @param limit buckets at most
     * @return whether there are more
     */
    public boolean buckets(ShardId shard, int limit, Consumer<BucketView> taker) {
        return Audit.waiting(() -> {
            int left = limit;
            long from = 0;
            while (true) {
                List<Long> minutes = audits.minutes(shard, from, deadlineNs()).join();
                for (int at = 0; at < minutes.size(); at += AdminStore.BUCKETS) {
                    List<Long> some = minutes.subList(at, Math.min(minutes.size(), at + AdminStore.BUCKETS));
                    for (BucketView view :
                            store.buckets(shard, some, deadlineNs()).join()) {
                        if (left == 0) {
                            return true;
                        }
                        taker.accept(view);
                        left--;
                    }
                }
                if (minutes.size() < AuditStore.BATCH) {
                    return false;
                }
                from = minutes.get(minutes.size() - 1) + 1;
            }
        });
    }

    /**
     * A node that is on the list of the living.
     *
     * @param id new at each start and each return
     * @param beats how often it said that it lives
     * @param lastBeat how long ago it did so last, or null when it did not while it was watched: it is silent, or dead and not yet found so
     * @param description what it says of itself: name, topics, shed (topics that it cannot take for now), draining; empty when it says nothing
     */
    public record NodeView(String id, long beats, @Nullable Duration lastBeat, Map<String, String> description) {
        /** Its display name, or "". */
        public String name() {
            return description.getOrDefault("name", "");
        }
    }

    /**
     * The nodes that are on the list of the living; watches them until each has beaten, or for {@code watch}: a node beats every second unless it
     * was told otherwise.
     */
    public List<NodeView> nodes(Duration watch) {
        return Audit.waiting(() -> {
            Map<String, Long> first = store.beats(deadlineNs()).join();
            Map<String, Long> beatNs = new HashMap<>();
            Map<String, Long> last = first;
            long endNs = System.nanoTime() + watch.toNanos();
            while (!beatNs.keySet().containsAll(last.keySet()) && System.nanoTime() - endNs < 0) {
                LockSupport.parkNanos(BEATS_EVERY_NS);
                long askedNs = System.nanoTime();
                Map<String, Long> before = last;
                last = store.beats(deadlineNs()).join();
                last.forEach((id, beats) -> {
                    if (!beats.equals(before.get(id))) {
                        beatNs.put(id, askedNs);
                    }
                });
                if (Thread.currentThread().isInterrupted()) {
                    break;
                }
            }
            List<NodeView> views = new ArrayList<>();
            long nowNs = System.nanoTime();
            for (Map.Entry<String, Long> node : last.entrySet()) {
                Long atNs = beatNs.get(node.getKey());
                views.add(new NodeView(
                        node.getKey(),
                        node.getValue(),
                        atNs == null ? null : Duration.ofNanos(nowNs - atNs),
                        cluster.description(node.getKey()).join()));
            }
            views.sort(Comparator.comparing(NodeView::name).thenComparing(NodeView::id));
            return views;
        });
    }

    /**
     * A job, wherever it is.
     *
     * @param status what is known of it
     * @param node id of the node that has it in flight, or null
     */
    public record JobView(JobStatus status, @Nullable String node) {}

    /**
     * A job; nothing when there is none, or its tombstone has gone.
     *
     * @throws StoreException (REFUSED) when there is one and its record cannot be read
     */
    public Optional<JobView> job(StoredTopic topic, String id) {
        return Audit.waiting(() -> access.find(topic, JobId.require(id), deadlineNs())
                .join()
                .map(status -> new JobView(status, status.state() == JobState.IN_FLIGHT ? holder(topic, id) : null)));
    }

    private @Nullable String holder(StoredTopic topic, String id) {
        for (ShardId shard : topic.homes(id)) {
            String node = holder(shard, id);
            if (node != null) {
                return node;
            }
        }
        return null;
    }

    private @Nullable String holder(ShardId shard, String id) {
        String suffix = ":" + ShardMap.memberOf(id);
        String cursor = Page.START;
        do {
            Page<String> page =
                    audits.scan(Place.inFlight(shard), cursor, deadlineNs()).join();
            for (String receipt : page.items()) {
                int node = receipt.indexOf(':') + 1;
                int dot = receipt.indexOf('.', node);
                if (receipt.endsWith(suffix) && node > 0 && dot > node) {
                    return receipt.substring(node, dot);
                }
            }
            cursor = page.cursor();
        } while (!cursor.equals(Page.START));
        return null;
    }

    /**
     * Changes the shard count of a topic while jobs flow ({@link Resharding}); blocks for the notice.
     *
     * @param notice how long nodes get to own the shards to come
     * @throws IllegalArgumentException when the count is out of range
     */
    public StoredTopic reshard(StoredTopic topic, int shards, Duration notice) {
        Resharding resharding = new Resharding(connection, ForkJoinPool.commonPool());
        return Audit.waiting(() -> resharding
                .change(topic, shards, notice, deadlineNs() + notice.toNanos())
                .join());
    }

    /**
     * Has no node take the topic's jobs from now on, which all nodes know within a second or so; what runs is not touched, and everything else goes
     * on. A pause that there is already is replaced.
     *
     * @param duration how long, or null = until {@link #resume}
     * @throws IllegalArgumentException when it is negative or longer than {@link Limits#HORIZON}
     */
    public StoredTopic pause(StoredTopic topic, @Nullable Duration duration) {
        if (duration == null) {
            return pausedUntil(topic, StoredTopic.UNTIL_RESUMED);
        }
        Allowed.requireWithin("duration of the pause", duration, Duration.ofMillis(1), Limits.HORIZON);
        return pausedUntil(topic, now(new ShardId(topic.topic(), 0)).toEpochMilli() + duration.toMillis());
    }

    /** Has nodes take the topic's jobs again. */
    public StoredTopic resume(StoredTopic topic) {
        return pausedUntil(topic, 0);
    }

    private StoredTopic pausedUntil(StoredTopic topic, long untilMs) {
        return Audit.waiting(() -> {
            StoredTopic read = topic;
            while (true) {
                StoredTopic wanted = read.pausedUntil(untilMs);
                StoredTopic stored = cluster.change(read, wanted, deadlineNs()).join();
                if (stored.equals(wanted)) {
                    return stored;
                }
                // Somebody else changed something meanwhile: on top of that.
                read = stored;
            }
        });
    }

    /** Cancels a job that still waits. */
    public MoveOutcome cancel(StoredTopic topic, String id) {
        return Audit.waiting(
                () -> access.cancel(topic, JobId.require(id), deadlineNs()).join());
    }

    /** Moves a job that still waits to another time; one of the past means now. */
    public MoveOutcome reschedule(StoredTopic topic, String id, Instant due) {
        return Audit.waiting(
                () -> access.reschedule(topic, JobId.require(id), shard -> due.toEpochMilli(), deadlineNs())
                        .join());
    }

    /** The time of the server that holds a job of this id, by which {@link #reschedule} goes. */
    public Instant now(StoredTopic topic, String id) {
        return now(topic.home(JobId.require(id)));
    }

    private Instant now(ShardId shard) {
        return Audit.waiting(() -> {
            audits.ledger(shard, deadlineNs()).join();
            return Instant.ofEpochMilli(jobs.clock(shard).nowMs());
        });
    }
}
