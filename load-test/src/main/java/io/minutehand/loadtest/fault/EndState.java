package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What Redis holds at the end of a run, read by plain commands while nothing changes: each job is in one set, its record
 * agrees, each bucket is in the index, and the counters are the sizes of the sets.
 *
 * @param accepted by the product's counters, as are done and cancelled
 * @param deadIds ids of the dead letters
 * @param left pending or in flight
 * @param wrong what does not agree, in words
 */
record EndState(long accepted, long done, long cancelled, Set<String> deadIds, long left, List<String> wrong) {
    long dead() {
        return deadIds.size();
    }

    private static final char IN_FLIGHT = 'I';
    private static final char PENDING = 'P';
    private static final char DEAD = 'X';

    static EndState read(RedisInstance redis, RunSettings settings) {
        Reader reader;
        try (RedisCommands commands = redis.connect()) {
            reader = new Reader(redis, commands);
            for (int shard = 0; shard < settings.shards(); shard++) {
                reader.read(new ShardId(RunSettings.TOPIC, shard));
            }
        }
        return new EndState(
                reader.accepted,
                reader.done,
                reader.cancelled,
                Set.copyOf(reader.dead),
                reader.left,
                List.copyOf(reader.wrong));
    }

    private static final class Reader {
        private final RedisInstance instance;
        private final RedisCommands redis;
        private final Keyspace keys = new Keyspace(Arena.NAMESPACE);
        private final List<String> wrong = new ArrayList<>();
        private long accepted;
        private long done;
        private long cancelled;
        private final Set<String> dead = new HashSet<>();
        private long left;

        Reader(RedisInstance instance, RedisCommands redis) {
            this.instance = instance;
            this.redis = redis;
        }

        void read(ShardId shard) {
            Map<String, Long> counters = counters(shard);
            accepted += counters.getOrDefault("accepted", 0L);
            done += counters.getOrDefault("done", 0L);
            cancelled += counters.getOrDefault("cancelled", 0L);
            Map<String, Character> states = records(shard);
            Set<String> pending = pending(shard);
            Set<String> inFlight = inFlight(shard);
            Set<String> buried = new HashSet<>(redis.texts("ZRANGE", keys.dead(shard), 0, -1));
            // A member is the digit of its record hash, then the id.
            buried.forEach(member -> dead.add(member.substring(1)));
            left += pending.size() + inFlight.size();
            agree(shard, states, PENDING, pending);
            agree(shard, states, IN_FLIGHT, inFlight);
            agree(shard, states, DEAD, buried);
            if (states.size() != pending.size() + inFlight.size() + buried.size()) {
                wrong.add(shard + " holds " + states.size() + " records, but " + pending.size() + " pending, "
                        + inFlight.size() + " in flight and " + buried.size() + " dead jobs");
            }
            if (counters.getOrDefault("pending", 0L) != pending.size()) {
                wrong.add(shard + " counts " + counters.get("pending") + " pending jobs and holds " + pending.size());
            }
            long sum = pending.size()
                    + inFlight.size()
                    + buried.size()
                    + counters.getOrDefault("done", 0L)
                    + counters.getOrDefault("cancelled", 0L)
                    + counters.getOrDefault("purged", 0L);
            if (counters.getOrDefault("accepted", 0L) != sum) {
                wrong.add(shard + " accepted " + counters.get("accepted") + " jobs and accounts for " + sum);
            }
            if (counters.getOrDefault("orphans", 0L) != 0) {
                wrong.add(shard + " met " + counters.get("orphans") + " entries without a record");
            }
        }

        private void agree(ShardId shard, Map<String, Character> states, char state, Set<String> members) {
            for (String member : members) {
                Character stored = states.get(member);
                if (stored == null || stored != state) {
                    wrong.add(shard + " has " + member + " among those in state " + state + ", its record says "
                            + stored);
                }
            }
        }

        private Map<String, Long> counters(ShardId shard) {
            List<String> fields = redis.texts("HGETALL", keys.ledger(shard));
            Map<String, Long> counters = new HashMap<>();
            for (int i = 0; i < fields.size(); i += 2) {
                counters.put(fields.get(i), Long.parseLong(fields.get(i + 1)));
            }
            return counters;
        }

        /** State by member, of all records of the shard. */
        private Map<String, Character> records(ShardId shard) {
            Map<String, Character> states = new HashMap<>();
            for (String hash : keys.allRecords(shard)) {
                if (redis.call("HGETALL", hash) instanceof List<?> fields) {
                    for (int i = 0; i < fields.size(); i += 2) {
                        if (fields.get(i) instanceof byte[] member && fields.get(i + 1) instanceof byte[] stored) {
                            states.put(new String(member, StandardCharsets.UTF_8), (char) stored[1]);
                        }
                    }
                }
            }
            return states;
        }

        /** Members of all buckets, those included that the index does not name. */
        private Set<String> pending(ShardId shard) {
            Set<String> indexed = new HashSet<>();
            redis.texts("ZRANGE", keys.index(shard), 0, -1)
                    .forEach(minute -> indexed.add(bucketPrefix(shard) + minute));
            Set<String> members = new HashSet<>();
            for (String bucket : instance.callEach("KEYS", bucketPrefix(shard) + "*")) {
                if (!indexed.remove(bucket)) {
                    wrong.add(shard + " has a bucket " + bucket + " that its index does not name");
                }
                redis.texts("ZRANGE", bucket, 0, -1).forEach(member -> {
                    if (!members.add(member)) {
                        wrong.add(shard + " has " + member + " in two buckets");
                    }
                });
            }
            indexed.forEach(bucket -> wrong.add(shard + " has an index entry of " + bucket + ", which is empty"));
            return members;
        }

        private String bucketPrefix(ShardId shard) {
            String index = keys.index(shard);
            return index.substring(0, index.lastIndexOf(':')) + ":b:";
        }

        private Set<String> inFlight(ShardId shard) {
            Set<String> members = new HashSet<>();
            for (String receipt : redis.texts("ZRANGE", keys.inflight(shard), 0, -1)) {
                // <delivery>:<node>.<call>:<member>, and the member may hold colons.
                String member = receipt.split(":", 3)[2];
                if (!members.add(member)) {
                    wrong.add(shard + " has two receipts of " + member);
                }
            }
            return members;
        }
    }
}
