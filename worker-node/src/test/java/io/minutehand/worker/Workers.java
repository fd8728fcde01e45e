package io.minutehand.worker;

import io.minutehand.core.job.JobId;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.redis.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** Nodes of a test, on one namespace, closed together. */
final class Workers implements AutoCloseable {
    /** Times that let a test see a lease end and a node count as dead within seconds. */
    static final WorkerSettings FAST = WorkerSettings.defaults()
            .withLease(Duration.ofSeconds(2))
            .withDeadAfter(Duration.ofMillis(3000))
            .withStopGrace(Duration.ofSeconds(5));

    private final RedisOptions redis;
    private final List<WorkerNode> nodes = new ArrayList<>();

    Workers(RedisOptions redis) {
        this.redis = redis;
    }

    /** The shared server under a namespace of its own. */
    static RedisOptions ownNamespace() {
        return ownNamespace(SharedRedis.get().uri());
    }

    static RedisOptions ownNamespace(String uri) {
        return RedisOptions.of(uri).withNamespace("t" + JobId.random().substring(0, 8));
    }

    WorkerNode start(String name, UnaryOperator<WorkerNode.Builder> more) {
        return add(more.apply(WorkerNode.builder().settings(FAST).redis(redis).name(name))
                .start());
    }

    WorkerNode start(String name, String topic, JobHandler<byte[]> handler) {
        return start(name, builder -> builder.handle(topic, handler));
    }

    WorkerNode add(WorkerNode node) {
        nodes.add(node);
        return node;
    }

    /** The node that was started first. */
    WorkerNode first() {
        return nodes.get(0);
    }

    List<WorkerNode> all() {
        return nodes;
    }

    /** Events of a kind over all nodes, those included that were closed. */
    long counted(Counter counter) {
        return nodes.stream()
                .mapToLong(node -> node.recorders().counted(counter))
                .sum();
    }

    /** Closes all at the same time. */
    @Override
    public void close() {
        CompletableFuture.allOf(nodes.stream()
                        .map(node -> CompletableFuture.runAsync(node::close, task -> new Thread(task).start()))
                        .toArray(CompletableFuture[]::new))
                .join();
    }
}
