package io.minutehand.core.bucket;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The only place that spells a key. All keys of a shard carry the hash tag <code>{topic:shard}</code>, so they share one cluster slot and
 * each script is atomic there. Thread-safe.
 */
public final class Keyspace {
    /** The namespace unless another is set. */
    public static final String DEFAULT_NAMESPACE = "mh";

    private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._-]{1,32}");

    private final String namespace;

    /** Spelled once: each pop, ack and schedule names all sixteen. As many as there are shards that this process deals with. */
    private final Map<ShardId, List<String>> allRecords = new ConcurrentHashMap<>();

    /**
     * Keys under a namespace: environments can share a Redis.
     *
     * @throws IllegalArgumentException when the namespace is not {@code [A-Za-z0-9._-]{1,32}}
     */
    public Keyspace(String namespace) {
        if (!NAMESPACE.matcher(namespace).matches()) {
            throw new IllegalArgumentException("namespace \"" + namespace + "\" is not [A-Za-z0-9._-]{1,32}");
        }
        this.namespace = namespace;
    }

    public String namespace() {
        return namespace;
    }

    private String of(ShardId shard, String rest) {
        return namespace + ":{" + shard.topic() + ":" + shard.shard() + "}:" + rest;
    }

    /** Bucket: zset member to due ms. */
    public String bucket(BucketId bucket) {
        return of(bucket.shard(), "b:" + bucket.minute());
    }

    /** Index of the non-empty buckets: zset minute to minute. */
    public String index(ShardId shard) {
        return of(shard, "buckets");
    }

    /** Lease of a bucket: the hash of a Redisson lock. */
    public String lease(BucketId bucket) {
        return of(bucket.shard(), "lease:" + bucket.minute());
    }

    /** Record hash of a member: hash member to record. */
    public String records(ShardId shard, String member) {
        return of(shard, "r:" + member.charAt(0));
    }

    /** All record hashes of a shard, in the order of their digits; a list that does not change. */
    public List<String> allRecords(ShardId shard) {
        return allRecords.computeIfAbsent(shard, this::spellRecords);
    }

    private List<String> spellRecords(ShardId shard) {
        List<String> keys = new ArrayList<>(ShardMap.RECORD_HASHES);
        for (int i = 0; i < ShardMap.RECORD_HASHES; i++) {
            keys.add(of(shard, "r:" + Character.forDigit(i, ShardMap.RECORD_HASHES)));
        }
        return List.copyOf(keys);
    }

    /** Tombstone of a job that ended. */
    public String end(ShardId shard, String id) {
        return of(shard, "end:" + id);
    }

    /** Receipts: zset receipt to deadline ms. */
    public String inflight(ShardId shard) {
        return of(shard, "inflight");
    }

    /** Last handout of a node: hash. */
    public String pops(ShardId shard, String node) {
        return of(shard, "pop:" + node);
    }

    /** Dead letters: zset member to time of death. */
    public String dead(ShardId shard) {
        return of(shard, "dead");
    }

    /** Counters and settings epoch: hash. */
    public String ledger(ShardId shard) {
        return of(shard, "ledger");
    }

    /** Sharded channel of hints. */
    public String wake(ShardId shard) {
        return of(shard, "wake");
    }

    /** Settings by topic: hash. */
    public String topics() {
        return namespace + ":topics";
    }

    /** Node ids by beat counter: zset. */
    public String nodes() {
        return namespace + ":nodes";
    }

    /** What a node says of itself: hash. */
    public String node(String node) {
        return namespace + ":node:" + node;
    }

    /** Lease of a reconciliation, by its name: the hash of a Redisson lock. */
    public String reconcileLease(String name) {
        return reconcile(name) + "lease";
    }

    /** How far a reconciliation has come: string, in the cluster slot of its lease. */
    public String reconcileState(String name) {
        return reconcile(name) + "state";
    }

    private String reconcile(String name) {
        return namespace + ":reconcile:{" + name + "}:";
    }
}
