package io.minutehand.loadtest.fleet;

import io.minutehand.core.bucket.BucketId;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.loadtest.report.RunFacts.Bucket;
import io.minutehand.loadtest.report.RunReport.Keys;
import io.minutehand.redis.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Looks into Redis with plain commands: what a node holds, what is left, what it costs. Not through the product's
 * scripts, so that it shows what is there and not what the product believes. For one thread.
 */
public final class RedisProbe implements AutoCloseable {
    /** Commands sent before their replies are read: few enough for the buffers of a socket. */
    private static final int PIPELINE = 500;

    private final RedisCommands redis;
    private final Keyspace keys;
    private final List<ShardId> shards = new ArrayList<>();

    /** What Redis says of a node: jobs that are handed to it, and buckets that it has leased. */
    public record Holdings(int inFlight, Set<Bucket> held) {}

    /**
     * Looks at some topics.
     *
     * @param redis a connection, which is closed with the probe
     */
    public RedisProbe(RedisCommands redis, String namespace, List<String> topics, int shardsOfTopic) {
        this.redis = redis;
        this.keys = new Keyspace(namespace);
        for (String topic : topics) {
            for (int shard = 0; shard < shardsOfTopic; shard++) {
                shards.add(new ShardId(topic, shard));
            }
        }
    }

    /** Returns the CPU time that the server has used since it started, user and system, microseconds. */
    public double cpuUs() {
        return cpuUs(redis);
    }

    /** Returns the CPU time that a server has used since it started, user and system, microseconds. */
    public static double cpuUs(RedisCommands server) {
        Map<String, String> cpu = server.info("cpu");
        return 1e6
                * (Double.parseDouble(cpu.getOrDefault("used_cpu_user", "0"))
                        + Double.parseDouble(cpu.getOrDefault("used_cpu_sys", "0")));
    }

    /** Returns the memory of all buckets and records divided by the number of records; null if there are none. */
    public @Nullable Double bytesPerPendingJob() {
        List<Object[]> sizes = new ArrayList<>();
        List<Object[]> counts = new ArrayList<>();
        for (ShardId shard : shards) {
            for (String hash : keys.allRecords(shard)) {
                sizes.add(new Object[] {"MEMORY", "USAGE", hash});
                counts.add(new Object[] {"HLEN", hash});
            }
        }
        for (BucketId bucket : buckets()) {
            sizes.add(new Object[] {"MEMORY", "USAGE", keys.bucket(bucket)});
        }
        long records = sum(counts);
        return records == 0 ? null : (Double) ((double) sum(sizes) / records);
    }

    /** Measures the largest keys of jobs as they are now; null if there are none. */
    public @Nullable Keys keys() {
        List<Object[]> cards = new ArrayList<>();
        buckets().forEach(bucket -> cards.add(new Object[] {"ZCARD", keys.bucket(bucket)}));
        List<Object[]> lengths = new ArrayList<>();
        shards.forEach(shard -> keys.allRecords(shard).forEach(hash -> lengths.add(new Object[] {"HLEN", hash})));
        List<Long> buckets = numbers(cards).stream().filter(size -> size > 0).toList();
        List<Long> hashes = numbers(lengths);
        if (buckets.isEmpty()) {
            return null;
        }
        return new Keys(
                buckets.stream().mapToLong(Long::longValue).max().orElse(0),
                buckets.stream().mapToLong(Long::longValue).average().orElse(0),
                hashes.stream().mapToLong(Long::longValue).max().orElse(0));
    }

    /** Returns what a node holds right now. */
    public Holdings holdings(String nodeId) {
        int inFlight = 0;
        List<Object[]> lookups = new ArrayList<>();
        shards.forEach(shard -> lookups.add(new Object[] {"ZRANGE", keys.inflight(shard), 0, -1}));
        for (Object receipts : pipelined(lookups)) {
            for (String receipt : texts(receipts)) {
                inFlight += receipt.startsWith(nodeId + ".", receipt.indexOf(':') + 1) ? 1 : 0;
            }
        }
        List<BucketId> buckets = buckets();
        List<Object> leases = pipelined(buckets.stream()
                .map(bucket -> new Object[] {"HKEYS", keys.lease(bucket)})
                .toList());
        Set<Bucket> held = new HashSet<>();
        for (int i = 0; i < leases.size(); i++) {
            if (texts(leases.get(i)).stream().anyMatch(holder -> holder.endsWith(":" + nodeId))) {
                BucketId bucket = buckets.get(i);
                held.add(new Bucket(bucket.shard().topic(), bucket.shard().shard(), bucket.minute()));
            }
        }
        return new Holdings(inFlight, held);
    }

    /** Returns how many jobs are pending or in flight. */
    public long undrained() {
        List<Object[]> cards = new ArrayList<>();
        shards.forEach(shard -> cards.add(new Object[] {"ZCARD", keys.inflight(shard)}));
        buckets().forEach(bucket -> cards.add(new Object[] {"ZCARD", keys.bucket(bucket)}));
        return sum(cards);
    }

    /**
     * Jobs that wait for a minute.
     *
     * @param jobs of all shards
     * @param largest of the shard that has most: what one key holds
     */
    public record Waiting(long minute, long jobs, long largest) {}

    /** Returns how many jobs wait, by minute, the first minute first. */
    public List<Waiting> waiting() {
        List<BucketId> buckets = buckets();
        List<Long> sizes = numbers(buckets.stream()
                .map(bucket -> new Object[] {"ZCARD", keys.bucket(bucket)})
                .toList());
        Map<Long, Waiting> minutes = new TreeMap<>();
        for (int i = 0; i < sizes.size(); i++) {
            long size = sizes.get(i);
            minutes.merge(
                    buckets.get(i).minute(),
                    new Waiting(buckets.get(i).minute(), size, size),
                    (one, other) -> new Waiting(
                            one.minute(), one.jobs() + other.jobs(), Math.max(one.largest(), other.largest())));
        }
        return List.copyOf(minutes.values());
    }

    /** Returns how many jobs are dead letters. */
    public long dead() {
        return sum(shards.stream()
                .map(shard -> new Object[] {"ZCARD", keys.dead(shard)})
                .toList());
    }

    /** Returns whether a job is among the dead letters. */
    public boolean isDead(String topic, String id) {
        for (ShardId shard : shards) {
            if (shard.topic().equals(topic) && redis.text("ZSCORE", keys.dead(shard), ShardMap.memberOf(id)) != null) {
                return true;
            }
        }
        return false;
    }

    /** Deletes all keys of the namespace. Walks through the whole server, a step at a time. */
    public void deleteAll() {
        String cursor = "0";
        do {
            Object reply = redis.call("SCAN", cursor, "MATCH", keys.namespace() + ":*", "COUNT", 1_000);
            List<?> step = reply instanceof List<?> list ? list : List.of("0", List.of());
            cursor = text(step.get(0));
            List<String> found = texts(step.get(1));
            if (!found.isEmpty()) {
                List<Object> unlink = new ArrayList<>(found);
                unlink.add(0, "UNLINK");
                redis.call(unlink.toArray());
            }
        } while (!cursor.equals("0"));
    }

    private List<BucketId> buckets() {
        List<Object> minutes = pipelined(shards.stream()
                .map(shard -> new Object[] {"ZRANGE", keys.index(shard), 0, -1})
                .toList());
        List<BucketId> buckets = new ArrayList<>();
        for (int i = 0; i < minutes.size(); i++) {
            for (String minute : texts(minutes.get(i))) {
                buckets.add(new BucketId(shards.get(i), Long.parseLong(minute)));
            }
        }
        return buckets;
    }

    private long sum(List<Object[]> commands) {
        return numbers(commands).stream().mapToLong(Long::longValue).sum();
    }

    private List<Long> numbers(List<Object[]> commands) {
        return pipelined(commands).stream()
                .map(reply -> reply instanceof Long number ? number : 0L)
                .toList();
    }

    /** Sends commands together; a null reply is left as an empty list. */
    private List<Object> pipelined(List<Object[]> commands) {
        List<Object> replies = new ArrayList<>(commands.size());
        for (int from = 0; from < commands.size(); from += PIPELINE) {
            List<Object[]> some = commands.subList(from, Math.min(commands.size(), from + PIPELINE));
            redis.callAll(some).forEach(reply -> replies.add(reply == null ? List.of() : reply));
        }
        return replies;
    }

    private static List<String> texts(@Nullable Object reply) {
        List<String> texts = new ArrayList<>();
        if (reply instanceof List<?> list) {
            list.forEach(element -> texts.add(text(element)));
        }
        return texts;
    }

    private static String text(@Nullable Object reply) {
        return reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
    }

    @Override
    public void close() {
        redis.close();
    }
}
