package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the product itself, each second, whether its counters agree: accepted = pending + in flight + dead + done +
 * cancelled + purged, in each shard. Its connection leads past all proxies. Thread-safe.
 */
final class Sampler implements AutoCloseable {
    private static final long REPLY_SECONDS = 5;

    private final StoreConnection connection;
    private final JobStore store;
    private final List<ShardId> shards = new ArrayList<>();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "sampler");
        thread.setDaemon(true);
        return thread;
    });
    private final List<String> differences = new ArrayList<>();
    private long taken;
    private long missed;

    Sampler(String uri, RunSettings settings) {
        this.connection = StoreConnection.open(RedisOptions.of(uri).withNamespace(Arena.NAMESPACE));
        this.store = connection.jobs(Runnable::run);
        for (int shard = 0; shard < settings.shards(); shard++) {
            shards.add(new ShardId(RunSettings.TOPIC, shard));
        }
    }

    void start() {
        timer.scheduleAtFixedRate(this::sample, 0, 1, TimeUnit.SECONDS);
    }

    /** Looks at all shards once. A shard that gives no answer, since Redis is down, counts as missed. */
    synchronized void sample() {
        for (ShardId shard : shards) {
            try {
                long difference = store.audit(shard).get(REPLY_SECONDS, TimeUnit.SECONDS);
                taken++;
                if (difference != 0) {
                    differences.add("shard " + shard.shard() + " by " + difference);
                }
            } catch (ExecutionException | TimeoutException e) {
                missed++;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /** How many audits gave an answer. */
    synchronized long taken() {
        return taken;
    }

    /** How many gave none. */
    synchronized long missed() {
        return missed;
    }

    /** What did not agree, in words. */
    synchronized List<String> differences() {
        return List.copyOf(differences);
    }

    @Override
    public void close() {
        timer.shutdownNow();
        connection.close();
    }
}
