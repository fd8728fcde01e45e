package io.minutehand.redis;

import io.minutehand.source.Passwords;
import io.minutehand.source.SourceKind;
import io.minutehand.source.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Redis Cluster of real processes on 127.0.0.1, all with one password. The slots are spread evenly over the primaries
 * in order; a node that does not answer for 2 s is taken for dead by the others.
 *
 * <p>Nodes are listed primaries first: with n primaries, node {@code n + k} starts as a replica of primary
 * {@code k % n}. After a failover that order says nothing about roles; ask {@link #primaryFor(String)}.
 */
public final class RedisCluster implements RedisInstance {

    private static final Logger LOG = LoggerFactory.getLogger(RedisCluster.class);

    private static final int SLOTS = 16_384;
    private static final long ASK_AGAIN_NS = 2_000_000_000L;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<RedisServer> nodes;

    private RedisCluster(List<RedisServer> nodes) {
        this.nodes = List.copyOf(nodes);
    }

    /**
     * Starts a cluster of the {@linkplain RedisBinary#locate() located} program.
     *
     * @throws IllegalStateException if it is not complete within 60 s
     */
    public static RedisCluster start(int primaries, int replicasPerPrimary) {
        return start(RedisBinary.locate(), primaries, replicasPerPrimary, RedisSettings.defaults());
    }

    /**
     * Starts a cluster and waits until every node calls it complete and every replica is in step.
     *
     * @param primaries          3 or more, as a failover needs a majority; 1 and 2 work without one
     * @param replicasPerPrimary 0 or more
     * @param settings           for each node
     * @throws IllegalStateException if it is not complete within 60 s
     */
    public static RedisCluster start(
            RedisBinary binary, int primaries, int replicasPerPrimary, RedisSettings settings) {
        Deployment.CLUSTER.note();
        String password = settings.password() == null ? Passwords.random() : settings.password();
        RedisSettings shared = settings.withPassword(password)
                .with("cluster-node-timeout 2000", "cluster-replica-validity-factor 0", "repl-diskless-sync-delay 0");
        List<RedisServer> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < primaries * (1 + replicasPerPrimary); i++) {
                nodes.add(RedisServer.start(binary, shared, RedisServer.Role.CLUSTER_NODE));
            }
            RedisCluster cluster = new RedisCluster(nodes);
            cluster.introduce(primaries);
            cluster.attachReplicas(primaries);
            cluster.awaitComplete();
            LOG.info(
                    "redis: cluster is complete primaries={} replicas={} {}",
                    primaries,
                    nodes.size() - primaries,
                    binary.describe());
            return cluster;
        } catch (RuntimeException e) {
            nodes.forEach(RedisServer::close);
            throw e;
        }
    }

    /** All nodes, in the order of the class note. */
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** The addresses of all nodes, for a client's list of seeds. */
    public List<String> uris() {
        return nodes.stream().map(RedisServer::uri).toList();
    }

    /** {@code redis+cluster://:password@} and the addresses of all nodes. Not for logs. */
    @Override
    public String uri() {
        return "redis+cluster://:" + password() + "@"
                + nodes.stream().map(node -> "127.0.0.1:" + node.port()).collect(Collectors.joining(","));
    }

    @Override
    public SourceKind kind() {
        return nodes.get(0).kind();
    }

    @Override
    public String version() {
        return nodes.get(0).version();
    }

    @Override
    public String describe() {
        return "cluster of " + nodes.size() + " nodes, the first "
                + nodes.get(0).describe();
    }

    @Override
    public RedisCommands connect() {
        String others = "redis://:" + password() + "@127.0.0.1:";
        return nodes.get(0).connect().following(port -> RedisCommands.connect(others + port));
    }

    @Override
    public List<String> callEach(Object... words) {
        List<String> replies = new ArrayList<>();
        primaries().forEach(primary -> replies.addAll(primary.callEach(words)));
        return replies;
    }

    /** The password that all nodes share. */
    public String password() {
        return nodes.get(0).password();
    }

    /**
     * The node that serves this key now, as the nodes that are alive see it.
     *
     * @throws IllegalStateException if no node answers, or if nobody serves the key's slot
     */
    public RedisServer primaryFor(String key) {
        for (RedisServer node : nodes) {
            if (node.isAlive()) {
                try (RedisCommands commands = node.connect()) {
                    return primaryOf(commands.number("CLUSTER", "KEYSLOT", key), commands);
                }
            }
        }
        throw new IllegalStateException("No node of the cluster is alive");
    }

    /**
     * Waits until every node that is alive calls the cluster complete, knows all living nodes and replicates in step;
     * for example after a failover or a restart.
     *
     * @throws IllegalStateException if that is not so within 60 s
     */
    public void awaitComplete() {
        for (RedisServer node : nodes) {
            await("node " + node.port() + " to see a complete cluster", node, () -> !node.isAlive() || complete(node));
        }
    }

    /**
     * Moves the slot of a key to another primary, key by key, while clients use it, as {@code redis-cli --cluster reshard} does: in between some
     * keys of the slot are here and some there.
     *
     * @param keysAtOnce keys that one step moves, 1 or more
     * @return how many keys were moved
     * @throws IllegalStateException if no primary serves the slot
     */
    public long moveSlot(String key, RedisServer to, int keysAtOnce) {
        RedisServer from = primaryFor(key);
        if (from == to) {
            return 0;
        }
        long moved = 0;
        try (RedisCommands source = from.connect();
                RedisCommands target = to.connect()) {
            long slot = source.number("CLUSTER", "KEYSLOT", key);
            String sourceId = String.valueOf(source.text("CLUSTER", "MYID"));
            String targetId = String.valueOf(target.text("CLUSTER", "MYID"));
            target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceId);
            source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
            for (List<String> keys = source.texts("CLUSTER", "GETKEYSINSLOT", slot, keysAtOnce);
                    !keys.isEmpty();
                    keys = source.texts("CLUSTER", "GETKEYSINSLOT", slot, keysAtOnce)) {
                List<Object> words = new ArrayList<>(
                        List.of("MIGRATE", "127.0.0.1", to.port(), "", 0, 5000, "AUTH", password(), "KEYS"));
                words.addAll(keys);
                source.call(words.toArray());
                moved += keys.size();
            }
            // The target first: a slot that nobody claims would be refused.
            target.call("CLUSTER", "SETSLOT", slot, "NODE", targetId);
            source.call("CLUSTER", "SETSLOT", slot, "NODE", targetId);
            for (RedisServer node : nodes) {
                if (node != from && node != to && node.isAlive() && isPrimary(node)) {
                    try (RedisCommands commands = node.connect()) {
                        commands.call("CLUSTER", "SETSLOT", slot, "NODE", targetId);
                    }
                }
            }
        }
        return moved;
    }

    /**
     * Lets a replica take the place of the primary that serves a key, by agreement of the two as before maintenance
     * ({@code CLUSTER FAILOVER}). Returns when all nodes that are alive say so.
     *
     * @throws IllegalStateException if that primary has no replica, or if the replica has not taken over within 60 s
     */
    public void failOver(String key) {
        RedisServer primary = primaryFor(key);
        RedisServer replica = nodes.stream()
                .filter(node -> node.isAlive() && isReplicaOf(node, primary))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Node " + primary.port() + " has no replica"));
        // The primaries give no vote when they gave one for these slots a moment ago (twice the node time-out), and the
        // attempt ends without a word after 5 s.
        AtomicLong askedNs = new AtomicLong(System.nanoTime() - ASK_AGAIN_NS);
        await("node " + replica.port() + " to become the primary", replica, () -> {
            if (isPrimary(replica)) {
                return true;
            }
            if (System.nanoTime() - askedNs.get() >= ASK_AGAIN_NS) {
                askedNs.set(System.nanoTime());
                try (RedisCommands commands = replica.connect()) {
                    commands.call("CLUSTER", "FAILOVER");
                }
            }
            return false;
        });
        for (RedisServer node : nodes) {
            await("node " + node.port() + " to see " + replica.port() + " take over", node, () -> {
                try (RedisCommands commands = node.connect()) {
                    return primaryOf(commands.number("CLUSTER", "KEYSLOT", key), commands) == replica;
                }
            });
        }
    }

    private static boolean isReplicaOf(RedisServer node, RedisServer primary) {
        try (RedisCommands commands = node.connect()) {
            Map<String, String> replication = commands.info("replication");
            return "slave".equals(replication.get("role"))
                    && String.valueOf(primary.port()).equals(replication.get("master_port"));
        }
    }

    /** The nodes that are primaries now, by their own word. */
    public List<RedisServer> primaries() {
        return nodes.stream().filter(node -> node.isAlive() && isPrimary(node)).toList();
    }

    private static boolean isPrimary(RedisServer node) {
        try (RedisCommands commands = node.connect()) {
            return "master".equals(commands.info("replication").get("role"));
        }
    }

    /** Ends all nodes and deletes their directories. Calling it again does nothing. */
    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }

    private void introduce(int primaries) {
        RedisServer first = nodes.get(0);
        try (RedisCommands greeter = first.connect()) {
            for (int i = 0; i < nodes.size(); i++) {
                RedisServer node = nodes.get(i);
                try (RedisCommands commands = node.connect()) {
                    // Distinct epochs from the start: otherwise the nodes settle the tie first, which takes seconds.
                    commands.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
                    if (i < primaries) {
                        int from = SLOTS * i / primaries;
                        int to = SLOTS * (i + 1) / primaries - 1;
                        commands.call("CLUSTER", "ADDSLOTSRANGE", from, to);
                    }
                }
                if (node != first) {
                    greeter.call("CLUSTER", "MEET", "127.0.0.1", node.port(), node.busPort());
                }
            }
        }
        for (RedisServer node : nodes) {
            await("node " + node.port() + " to know all nodes", node, () -> knowsAll(node));
        }
    }

    private void attachReplicas(int primaries) {
        for (int i = primaries; i < nodes.size(); i++) {
            RedisServer primary = nodes.get((i - primaries) % primaries);
            try (RedisCommands ofPrimary = primary.connect();
                    RedisCommands ofReplica = nodes.get(i).connect()) {
                ofReplica.call("CLUSTER", "REPLICATE", String.valueOf(ofPrimary.text("CLUSTER", "MYID")));
            }
        }
        for (RedisServer node : nodes) {
            await(
                    "node " + node.port() + " to see the replicas",
                    node,
                    () -> replicasSeenBy(node) == nodes.size() - primaries);
        }
    }

    private boolean knowsAll(RedisServer node) {
        List<String> lines = table(node);
        return lines.size() == nodes.size() && lines.stream().noneMatch(line -> line.contains("handshake"));
    }

    private static long replicasSeenBy(RedisServer node) {
        return table(node).stream().filter(line -> line.contains("slave")).count();
    }

    private static List<String> table(RedisServer node) {
        try (RedisCommands commands = node.connect()) {
            return String.valueOf(commands.text("CLUSTER", "NODES")).lines().toList();
        }
    }

    private static boolean complete(RedisServer node) {
        try (RedisCommands commands = node.connect()) {
            Map<String, String> cluster = RedisCommands.fields(commands.text("CLUSTER", "INFO"));
            Map<String, String> replication = commands.info("replication");
            return "ok".equals(cluster.get("cluster_state"))
                    && String.valueOf(SLOTS).equals(cluster.get("cluster_slots_ok"))
                    && !"down".equals(replication.get("master_link_status"));
        }
    }

    private RedisServer primaryOf(long slot, RedisCommands commands) {
        if (commands.call("CLUSTER", "SLOTS") instanceof List<?> ranges) {
            for (Object element : ranges) {
                if (element instanceof List<?> range
                        && range.get(0) instanceof Long from
                        && range.get(1) instanceof Long to
                        && range.get(2) instanceof List<?> primary
                        && primary.get(1) instanceof Long port
                        && from <= slot
                        && slot <= to) {
                    return nodes.stream()
                            .filter(node -> node.port() == port)
                            .findFirst()
                            .orElseThrow(() ->
                                    new IllegalStateException("Slot " + slot + " is at the unknown port " + port));
                }
            }
        }
        throw new IllegalStateException("No node serves slot " + slot);
    }

    private static void await(String what, RedisServer node, Callable<Boolean> condition) {
        Waiting.until(what, LIMIT, condition, () -> "it sees:\n" + String.join("\n", table(node)));
    }
}
