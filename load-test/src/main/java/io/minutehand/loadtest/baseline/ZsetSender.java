package io.minutehand.loadtest.baseline;

import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.baseline.Scheduler.Target;
import java.util.List;
import java.util.function.Consumer;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** Stores jobs in one sorted set by due time, and their payloads in one hash. */
final class ZsetSender implements Sender {
    private static final String ADD =
            "redis.call('hset', KEYS[2], ARGV[1], ARGV[3]) return redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])";

    private final RedissonClient client;
    private final RScript script;
    private final String sha;
    private final List<Object> keys;

    ZsetSender(Target target) {
        this.client = PlainRedisson.connect(target);
        this.script = client.getScript(ByteArrayCodec.INSTANCE);
        this.sha = script.scriptLoad(ADD);
        this.keys = List.of(target.key("zset"), target.key("payloads"));
    }

    @Override
    public void send(String id, byte[] payload, long dueUs, Consumer<Boolean> answered) {
        byte[] dueMs = Long.toString(dueUs / 1_000).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        script.evalShaAsync(
                        RScript.Mode.READ_WRITE,
                        sha,
                        RScript.ReturnType.LONG,
                        keys,
                        id.getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                        dueMs,
                        payload)
                .whenComplete((added, failure) -> answered.accept(failure == null));
    }

    @Override
    public long sendAll(List<Order> orders) {
        return Pipelined.sendAll(this, orders);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
