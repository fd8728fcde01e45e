package io.minutehand.loadtest.baseline;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.minutehand.loadtest.baseline.Scheduler.Target;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;

/** Pops due jobs out of one sorted set, in a loop on one thread, as the usual design does. */
final class ZsetWorker implements AutoCloseable {
    /** How many are popped at once; {now and next due time in ms, payload, ...}. */
    private static final String POP = """
            local time = redis.call('time')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            local ids = redis.call('zrangebyscore', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
            local reply = {''}
            if #ids > 0 then
                reply = redis.call('hmget', KEYS[2], unpack(ids))
                redis.call('zrem', KEYS[1], unpack(ids))
                redis.call('hdel', KEYS[2], unpack(ids))
                table.insert(reply, 1, '')
            else
                local first = redis.call('zrange', KEYS[1], 0, 0, 'WITHSCORES')
                reply[1] = string.format('%.0f', (first[2] or now + 1000) - now)
            end
            return reply
            """;

    private static final long SLEEP_MS = 200;
    private static final long LONGEST_SLEEP_MS = 1_000;
    private static final int BATCH = 100;

    private final RedissonClient client;
    private final RScript script;
    private final String sha;
    private final List<Object> keys;
    private final Consumer<byte[]> handler;
    private final Thread thread;
    private volatile boolean closed;

    private ZsetWorker(Target target, String name, int batch, boolean sleepsExactly, Consumer<byte[]> handler) {
        this.client = PlainRedisson.connect(target);
        this.script = client.getScript(ByteArrayCodec.INSTANCE);
        this.sha = script.scriptLoad(POP);
        this.keys = List.of(target.key("zset"), target.key("payloads"));
        this.handler = handler;
        this.thread = new Thread(() -> run(batch, sleepsExactly), "pops-of-" + name);
        thread.start();
    }

    /** One job a call, run by the thread that popped it; 200 ms of sleep when nothing is due. */
    static AutoCloseable popsOne(Target target, String name, Consumer<byte[]> handler) {
        return new ZsetWorker(target, name, 1, false, handler);
    }

    /** A hundred jobs a call, run by a pool; sleeps until the next job is due, a second at most. */
    static AutoCloseable popsBatches(Target target, String name, Consumer<byte[]> handler) {
        ExecutorService pool = Executors.newFixedThreadPool(target.slots());
        ZsetWorker worker =
                new ZsetWorker(target, name, BATCH, true, payload -> pool.execute(() -> handler.accept(payload)));
        return () -> {
            worker.close();
            pool.shutdown();
            if (!pool.awaitTermination(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("handlers of " + name + " did not end within 10 s");
            }
        };
    }

    private void run(int batch, boolean sleepsExactly) {
        byte[] count = Integer.toString(batch).getBytes(US_ASCII);
        while (!closed) {
            List<byte[]> reply = script.evalSha(RScript.Mode.READ_WRITE, sha, RScript.ReturnType.LIST, keys, count);
            if (reply.size() > 1) {
                reply.subList(1, reply.size()).forEach(handler);
                continue;
            }
            long untilDueMs = Long.parseLong(new String(reply.get(0), US_ASCII));
            long sleepMs = sleepsExactly ? Math.max(1, Math.min(untilDueMs, LONGEST_SLEEP_MS)) : SLEEP_MS;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(sleepMs));
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
        Scheduler.join(thread);
        client.shutdown();
    }
}
