package io.minutehand.redis;

import io.minutehand.source.Passwords;
import io.minutehand.source.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A primary, a replica and three sentinels as real processes on 127.0.0.1, all with one password. Two sentinels decide;
 * a primary that does not answer for 1 s is taken for dead.
 */
public final class RedisSentinel implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RedisSentinel.class);

    private static final String NAME = "minutehand";
    private static final int SENTINELS = 3;
    private static final int QUORUM = 2;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<RedisServer> servers;
    private final List<RedisServer> sentinels;

    private RedisSentinel(List<RedisServer> servers, List<RedisServer> sentinels) {
        this.servers = List.copyOf(servers);
        this.sentinels = List.copyOf(sentinels);
    }

    /**
     * Starts all five of the {@linkplain RedisBinary#locate() located} program.
     *
     * @throws IllegalStateException if they do not all know each other within 60 s
     */
    public static RedisSentinel start() {
        return start(RedisBinary.locate(), RedisSettings.defaults());
    }

    /**
     * Starts all five and waits until each sentinel knows the replica and the two others.
     *
     * @param settings for primary and replica
     * @throws IllegalStateException if they do not all know each other within 60 s
     */
    public static RedisSentinel start(RedisBinary binary, RedisSettings settings) {
        Deployment.SENTINEL.note();
        String password = settings.password() == null ? Passwords.random() : settings.password();
        RedisSettings shared = settings.withPassword(password).with("repl-diskless-sync-delay 0");
        List<RedisServer> servers = new ArrayList<>();
        List<RedisServer> sentinels = new ArrayList<>();
        try {
            RedisServer primary = RedisServer.start(binary, shared, RedisServer.Role.STANDALONE);
            servers.add(primary);
            RedisServer replica = RedisServer.start(
                    binary, shared.with("replicaof 127.0.0.1 " + primary.port()), RedisServer.Role.STANDALONE);
            servers.add(replica);
            Waiting.until(
                    "the replica to be in step",
                    LIMIT,
                    () -> inStep(replica),
                    () -> "its log is in " + replica.directory());
            RedisSettings watching = RedisSettings.defaults()
                    .withPassword(password)
                    .with(
                            "sentinel monitor " + NAME + " 127.0.0.1 " + primary.port() + " " + QUORUM,
                            "sentinel auth-pass " + NAME + " " + password,
                            "sentinel sentinel-pass " + password,
                            "sentinel down-after-milliseconds " + NAME + " 1000",
                            "sentinel failover-timeout " + NAME + " 5000");
            for (int i = 0; i < SENTINELS; i++) {
                sentinels.add(RedisServer.start(binary, watching, RedisServer.Role.SENTINEL));
            }
            for (RedisServer sentinel : sentinels) {
                Waiting.until(
                        "sentinel " + sentinel.port() + " to know the others",
                        LIMIT,
                        () -> knowsAll(sentinel),
                        () -> "it knows " + master(sentinel));
            }
            LOG.info(
                    "redis: sentinels are ready primary={} replica={} {}",
                    primary.port(),
                    replica.port(),
                    binary.describe());
            return new RedisSentinel(servers, sentinels);
        } catch (RuntimeException e) {
            sentinels.forEach(RedisServer::close);
            servers.forEach(RedisServer::close);
            throw e;
        }
    }

    /** The name under which the sentinels watch the primary. */
    public String masterName() {
        return NAME;
    }

    /** {@code redis+sentinel://:password@}, the addresses of the sentinels and the name. Not for logs. */
    public String uri() {
        return "redis+sentinel://:" + password() + "@"
                + sentinels.stream().map(each -> "127.0.0.1:" + each.port()).collect(Collectors.joining(","))
                + "/" + NAME;
    }

    /** The two data servers; the first started as the primary. */
    public List<RedisServer> servers() {
        return servers;
    }

    /** The three sentinels. */
    public List<RedisServer> sentinels() {
        return sentinels;
    }

    /** The addresses of the sentinels, for a client's list. */
    public List<String> sentinelUris() {
        return sentinels.stream().map(RedisServer::uri).toList();
    }

    /** The password that data servers and sentinels share. */
    public String password() {
        return servers.get(0).password();
    }

    /**
     * The primary as the first living sentinel sees it.
     *
     * @throws IllegalStateException if no sentinel is alive, or if it names a server that is not of this set
     */
    public RedisServer primary() {
        for (RedisServer sentinel : sentinels) {
            if (sentinel.isAlive()) {
                try (RedisCommands commands = sentinel.connect()) {
                    String port = commands.texts("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
                            .get(1);
                    return servers.stream()
                            .filter(server -> port.equals(String.valueOf(server.port())))
                            .findFirst()
                            .orElseThrow(() -> new IllegalStateException("The primary is at the unknown port " + port));
                }
            }
        }
        throw new IllegalStateException("No sentinel is alive");
    }

    /**
     * Waits until the server that is not the primary replicates it in step; for example after a failover and the restart
     * of the one that was killed, which the sentinels make a replica after about ten seconds.
     *
     * @throws IllegalStateException if that is not so within 60 s
     */
    public void awaitReplica() {
        Waiting.until(
                "the other server to replicate the primary in step",
                LIMIT,
                () -> {
                    RedisServer primary = primary();
                    return servers.stream().filter(server -> server != primary).allMatch(RedisSentinel::inStep);
                },
                () -> "the sentinels know " + master(sentinels.get(0)));
    }

    /** Ends all five and deletes their directories. Calling it again does nothing. */
    @Override
    public void close() {
        // Sentinels first: they would start a failover while the servers go.
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }

    private static boolean inStep(RedisServer replica) {
        try (RedisCommands commands = replica.connect()) {
            return "up".equals(commands.info("replication").get("master_link_status"));
        }
    }

    private static boolean knowsAll(RedisServer sentinel) {
        Map<String, String> master = master(sentinel);
        return "master".equals(master.get("flags"))
                && "1".equals(master.get("num-slaves"))
                && String.valueOf(SENTINELS - 1).equals(master.get("num-other-sentinels"));
    }

    private static Map<String, String> master(RedisServer sentinel) {
        try (RedisCommands commands = sentinel.connect()) {
            List<String> flat = commands.texts("SENTINEL", "MASTER", NAME);
            Map<String, String> fields = new HashMap<>();
            for (int i = 0; i + 1 < flat.size(); i += 2) {
                fields.put(flat.get(i), flat.get(i + 1));
            }
            return fields;
        }
    }
}
