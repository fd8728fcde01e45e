package io.minutehand.worker.service;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.minutehand.worker.NodeStats;
import io.minutehand.worker.WorkerNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What a node is and has at a moment, as gauges and in sentences. Looked at when it is asked for. Thread-safe. */
final class NodeMeters {
    private final WorkerNode node;
    private volatile NodeStats last;

    /** @param registry where gauges go, or null when nobody reads them */
    NodeMeters(WorkerNode node, @Nullable MeterRegistry registry) {
        this.node = node;
        this.last = node.stats();
        if (registry != null) {
            register(registry);
        }
    }

    private void register(MeterRegistry registry) {
        gauge(registry, "minutehand.node.ready", "1 = takes jobs", stats -> stats.ready() ? 1 : 0);
        gauge(registry, "minutehand.node.shards", "Shards that the assignment gives it", NodeStats::ownedShards);
        gauge(
                registry,
                "minutehand.node.leases",
                "Leases that it holds",
                stats -> stats.heldBuckets().size());
        gauge(registry, "minutehand.node.slots", "Handlers at once, at most", NodeStats::slots);
        gauge(registry, "minutehand.node.inflight", "Jobs that it has and has not completed", NodeStats::inFlight);
        gauge(registry, "minutehand.node.running", "Handlers that run", NodeStats::running);
        gauge(registry, "minutehand.node.stuck", "Handlers that ignored their time-out", NodeStats::stuck);
    }

    private void gauge(MeterRegistry registry, String name, String what, ToDoubleFunction<NodeStats> value) {
        Gauge.builder(name, this, meters -> value.applyAsDouble(meters.last))
                .description(what)
                .register(registry);
    }

    /** Looks at the node: all gauges tell of this moment from now on. */
    NodeStats look() {
        NodeStats now = node.stats();
        last = now;
        return now;
    }

    /** What keeps the node from taking jobs; nothing when it takes them. */
    List<String> whyNotReady() {
        NodeStats now = look();
        List<String> reasons = new ArrayList<>();
        if (now.ready()) {
            return reasons;
        }
        if (now.stuck() >= now.slots()) {
            reasons.add("all " + now.slots() + " slots are held by handlers that ignored their time-out");
        } else {
            reasons.add(
                    "the node is not a member of the cluster: it is starting or stopping, or Redis does not answer");
        }
        return reasons;
    }
}
