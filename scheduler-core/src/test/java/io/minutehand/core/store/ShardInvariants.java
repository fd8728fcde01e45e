package io.minutehand.core.store;

import io.minutehand.core.bucket.ShardMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What holds in a shard at any instant, whatever was called in whatever order: the ledger adds up, the index names just the buckets that are not
 * empty, and each job is in the one place that its record says.
 */
final class ShardInvariants {
    private final ShardImage image;
    private final List<String> broken = new ArrayList<>();
    private final Map<String, ByteBuffer> records = new HashMap<>();

    private ShardInvariants(ShardImage image) {
        this.image = image;
    }

    /** Which invariants an image of Redis breaks; empty when all hold. */
    static List<String> broken(ShardImage image) {
        ShardInvariants invariants = new ShardInvariants(image);
        invariants.readRecords();
        long pending = invariants.checkBuckets();
        long inFlight = invariants.checkInFlight();
        long dead = invariants.checkDead();
        invariants.records.forEach((member, record) ->
                invariants.require(false, member + " has state " + state(record) + " and is in no place"));
        invariants.checkLedger(pending, inFlight, dead);
        return invariants.broken;
    }

    private void require(boolean holds, String violation) {
        if (!holds) {
            broken.add(violation);
        }
    }

    private void readRecords() {
        for (String key : image.storedKeys()) {
            if (key.startsWith("r:")) {
                image.stored(key).forEach((member, record) -> {
                    require(member.startsWith(key.substring(2)), member + " is in the record hash " + key);
                    require(
                            ShardMap.memberOf(ShardMap.idOf(member)).equals(member),
                            member + " does not begin with its digit");
                    require(
                            image.stored("end:" + ShardMap.idOf(member)).isEmpty(),
                            member + " lives and has a tombstone");
                    records.put(member, ByteBuffer.wrap(record));
                });
            }
        }
    }

    /** Takes each record out that is where it says; what is left is in no place. */
    private long checkBuckets() {
        Set<String> minutes = new TreeSet<>();
        long pending = 0;
        for (String key : image.storedKeys()) {
            if (key.startsWith("b:")) {
                String minute = key.substring(2);
                minutes.add(minute);
                Map<String, byte[]> members = image.stored(key);
                pending += members.size();
                members.forEach((member, due) -> {
                    ByteBuffer record = records.remove(member);
                    require(record != null, member + " waits in " + key + " without a record, or elsewhere too");
                    require(
                            record == null
                                    || (state(record) == 'P'
                                            && record.getInt(6) == Long.parseLong(minute)
                                            && record.getLong(10) == ShardImage.number(due)),
                            member + " waits in " + key + " against its record");
                });
            }
        }
        Map<String, byte[]> index = image.stored("buckets");
        require(index.keySet().equals(minutes), "index names " + index.keySet() + ", buckets are " + minutes);
        index.forEach((minute, score) ->
                require(Long.parseLong(minute) == ShardImage.number(score), "index has another score for " + minute));
        return pending;
    }

    private long checkInFlight() {
        Set<String> receipts = image.stored("inflight").keySet();
        for (String receipt : receipts) {
            String[] parts = receipt.split(":", 3);
            ByteBuffer record = records.remove(parts[2]);
            require(record != null, receipt + " has no record, or is in two places");
            require(
                    record == null || (state(record) == 'I' && record.getShort(4) == Short.parseShort(parts[0])),
                    receipt + " is in flight against its record");
        }
        return receipts.size();
    }

    private long checkDead() {
        Set<String> dead = image.stored("dead").keySet();
        for (String member : dead) {
            ByteBuffer record = records.remove(member);
            require(record != null && state(record) == 'X', member + " is dead against its record");
        }
        return dead.size();
    }

    private void checkLedger(long pending, long inFlight, long dead) {
        require(counter("pending") == pending, "pending is " + counter("pending") + ", buckets hold " + pending);
        long accounted = pending
                + inFlight
                + dead
                + counter("done")
                + counter("cancelled")
                + counter("purged")
                + counter("orphans");
        require(counter("accepted") == accounted, "accepted " + counter("accepted") + ", accounted for " + accounted);
    }

    private long counter(String name) {
        byte[] value = image.stored("ledger").get(name);
        return value == null ? 0 : ShardImage.number(value);
    }

    private static char state(ByteBuffer record) {
        return (char) record.get(1);
    }
}
