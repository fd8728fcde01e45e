package io.minutehand.core.store;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import java.net.InetSocketAddress;
import java.net.MalformedURLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BinaryOperator;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.api.redisnode.RedisClusterNode;
import org.redisson.api.redisnode.RedisNode;
import org.redisson.api.redisnode.RedisNodes;
import org.redisson.client.RedisException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.MasterSlaveEntry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a process to Redis: one Redisson client, the scripts, and the estimates of the servers' clocks. From it come the stores,
 * each completing its futures on the executor that is given. Thread-safe; closing it ends the client that it made.
 */
public final class StoreConnection implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StoreConnection.class);
    private static final int OLDEST_MAJOR = 7;
    private static final int NETTY_THREADS = 2;
    private static final int CONNECTIONS = 8;
    private static final int IDLE_CONNECTIONS = 2;
    private static final int CHANNELS_PER_CONNECTION = 1000;
    private static final int CONNECT_TIMEOUT_MS = 3000;
    private static final long CONNECT_PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CONNECT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long CLUSTER_SCAN_MS = 1000;
    private static final long PING_MS = 5000;

    private final RedissonClient client;
    private final Keyspace keys;
    private final Duration replyTimeout;
    private final boolean manyServers;
    private final boolean sentinels;
    private final ScriptLibrary library;
    private final String description;
    private final ServerClock sharedClock = new ServerClock();
    private final Map<ShardId, ServerClock> clocks = new ConcurrentHashMap<>();

    private StoreConnection(
            Config config,
            Keyspace keys,
            Duration replyTimeout,
            ScriptLibrary library,
            String description,
            boolean acceptsRisks) {
        this.client = Redisson.create(config);
        this.keys = keys;
        this.replyTimeout = replyTimeout;
        this.manyServers = config.isClusterConfig();
        this.sentinels = config.isSentinelConfig();
        this.library = library;
        this.description = description;
        try {
            requireVersion();
            requireSafety(acceptsRisks);
        } catch (RuntimeException refused) {
            client.shutdown();
            throw refused;
        }
    }

    /**
     * Connects; blocks until the first connection stands.
     *
     * @throws StoreException (REFUSED) when nobody answers, the login fails, the server is older than Redis 7.0, or its settings would lose
     *     jobs ({@link ServerFacts#risks}) and the options do not accept that
     */
    public static StoreConnection open(RedisOptions options) {
        return open(options, (name, text) -> text);
    }

    /** As {@link #open(RedisOptions)}, with scripts that pass through {@code edit} first: for tests of what scripts guard against. */
    static StoreConnection open(RedisOptions options, BinaryOperator<String> edit) {
        return connect(
                configOf(options),
                new Keyspace(options.namespace()),
                options.replyTimeout(),
                new ScriptLibrary(edit),
                options.toString(),
                options.acceptsRisks());
    }

    /**
     * Connects by a Redisson configuration of the caller's. Calls of ours still bring their own codec, time-out and the order not to be
     * resent; a configuration without a codec gets one that needs no library.
     *
     * @param acceptsRisks as {@link RedisOptions#acceptsRisks}
     * @throws StoreException as {@link #open(RedisOptions)}
     */
    public static StoreConnection of(Config config, String namespace, boolean acceptsRisks) {
        Config copy = copyOf(config);
        ours(copy);
        return connect(
                copy,
                new Keyspace(namespace),
                Duration.ofSeconds(1),
                new ScriptLibrary(),
                "a Redisson configuration",
                acceptsRisks);
    }

    /** As {@link #of(Config, String, boolean)}, accepting no risks. */
    public static StoreConnection of(Config config, String namespace) {
        return of(config, namespace, false);
    }

    /** Copying a configuration without a codec would give both the client's default one, whose library is not here. */
    private static Config copyOf(Config config) {
        if (config.getCodec() != null) {
            return new Config(config);
        }
        config.setCodec(ByteArrayCodec.INSTANCE);
        try {
            return new Config(config);
        } finally {
            config.setCodec(null);
        }
    }

    private static StoreConnection connect(
            Config config,
            Keyspace keys,
            Duration replyTimeout,
            ScriptLibrary library,
            String description,
            boolean acceptsRisks) {
        boolean tls = description.startsWith("rediss");
        long beganNs = System.nanoTime();
        while (true) {
            try {
                return new StoreConnection(config, keys, replyTimeout, library, description, acceptsRisks);
            } catch (StoreException refused) {
                throw refused;
            } catch (RuntimeException failure) {
                long elapsedNs = System.nanoTime() - beganNs;
                // A process that has just started, on a busy machine, may take longer to read a reply than it waits for
                // one; a server that has just started reads its data first.
                if (!ConnectFailures.mayPass(failure) || elapsedNs > CONNECT_PATIENCE_NS) {
                    throw ConnectFailures.refused(description, tls, elapsedNs, failure);
                }
                LockSupport.parkNanos(CONNECT_PAUSE_NS);
            }
        }
    }

    public Keyspace keys() {
        return keys;
    }

    /** The Redisson client's id: new at each start, the first half of a lease's holder. */
    public String clientId() {
        return client.getId();
    }

    /** The clock of the server that holds a shard: one estimate for all, unless there are several servers. */
    public ServerClock clock(ShardId shard) {
        return manyServers ? clocks.computeIfAbsent(shard, s -> new ServerClock()) : sharedClock;
    }

    /** Jobs: a method a script. */
    public JobStore jobs(Executor executor) {
        return new JobStore(keys, this::clock, runner(executor));
    }

    /** Leases of buckets, what waits in a shard, and hints. */
    public LeaseStore leases(Executor executor) {
        return new LeaseStore(this, runner(executor), client, executor);
    }

    /** Shards as homes of ids. */
    public HomeStore homes(Executor executor) {
        return new HomeStore(this, runner(executor));
    }

    /** What an audit reads of a shard, and mends. */
    public AuditStore audits(Executor executor) {
        return new AuditStore(this, runner(executor));
    }

    /** What a person looks at: nodes, buckets and dead letters. */
    public AdminStore admin(Executor executor) {
        return new AdminStore(this, runner(executor));
    }

    /** Leases of reconciliations, and how far each has come. */
    public ReconcileStore reconciles(Executor executor) {
        return new ReconcileStore(this, runner(executor), client);
    }

    /** The address of the primary that holds a shard, as the client knows it now: host:port, or "?" while a Cluster has none for it. */
    public String serverOf(ShardId shard) {
        ConnectionManager servers = ((Redisson) client).getCommandExecutor().getConnectionManager();
        MasterSlaveEntry entry = servers.getEntry(servers.calcSlot(keys.ledger(shard)));
        if (entry == null) {
            return "?";
        }
        InetSocketAddress address = entry.getClient().getAddr();
        return address.getHostString() + ":" + address.getPort();
    }

    /** Nodes and topics. */
    public ClusterStore cluster(Executor executor) {
        return new ClusterStore(this, runner(executor));
    }

    private ScriptRunner runner(Executor executor) {
        return new ScriptRunner(client, replyTimeout, library, executor);
    }

    /** Ends the client; calls under way fail. */
    @Override
    public void close() {
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    @Override
    public String toString() {
        return description;
    }

    private void requireVersion() {
        RScript scripts = client.getScript(OptionalOptions.defaults()
                .codec(StringCodec.INSTANCE)
                .timeout(replyTimeout)
                .retryAttempts(2));
        String version = scripts.eval(
                keys.topics(),
                RScript.Mode.READ_WRITE,
                "return redis.REDIS_VERSION or 'below 7'",
                RScript.ReturnType.VALUE,
                List.of(keys.topics()));
        int dot = version.indexOf('.');
        if (dot < 0 || Integer.parseInt(version.substring(0, dot)) < OLDEST_MAJOR) {
            throw new StoreException(
                    StoreException.Kind.REFUSED,
                    "Redis at " + description + " has version " + version + ", needed is " + OLDEST_MAJOR
                            + ".0 or newer (script flags, sharded channels)",
                    new IllegalStateException(version));
        }
    }

    /**
     * What each primary says of itself now; blocks for a round trip or two each.
     *
     * @throws StoreException when one does not answer, or does not let this user ask (INFO)
     */
    public List<ServerFacts> servers() {
        try {
            return primaries().stream().map(this::factsOf).toList();
        } catch (RuntimeException failure) {
            throw new Failures().translate("asking the servers of " + description + " for their settings", failure);
        }
    }

    private Collection<? extends RedisNode> primaries() {
        if (manyServers) {
            return client.getRedisNodes(RedisNodes.CLUSTER).getMasters();
        }
        return List.of(
                sentinels
                        ? client.getRedisNodes(RedisNodes.SENTINEL_MASTER_SLAVE).getMaster()
                        : client.getRedisNodes(RedisNodes.MASTER_SLAVE).getMaster());
    }

    private ServerFacts factsOf(RedisNode server) {
        String address =
                server.getAddr().getHostString() + ":" + server.getAddr().getPort();
        String appendFsync = null;
        try {
            appendFsync = server.getConfig("appendfsync").get("appendfsync");
        } catch (RedisException notAllowed) {
            log.debug("redis: server={} does not let this user ask for its configuration", address);
        }
        String clusterState =
                // The client's nodes are of one class for all deployments.
                manyServers && server instanceof RedisClusterNode node
                        ? node.clusterInfo().get("cluster_state")
                        : null;
        return ServerFacts.of(address, server.info(RedisNode.InfoSection.DEFAULT), appendFsync, clusterState);
    }

    private void requireSafety(boolean acceptsRisks) {
        List<ServerFacts> servers;
        try {
            servers = servers();
        } catch (StoreException notAllowed) {
            log.warn("redis: settings cannot be checked cause=\"{}\"; the user needs INFO", notAllowed.getMessage());
            return;
        }
        for (ServerFacts server : servers) {
            for (ServerFacts.Risk risk : server.risks()) {
                switch (risk.level()) {
                    case REFUSED -> {
                        if (!acceptsRisks) {
                            throw new StoreException(
                                    StoreException.Kind.REFUSED,
                                    "Redis at " + server.address() + " is not safe to use: " + risk.what()
                                            + "; or accept the risk (RedisOptions.withRisksAccepted)",
                                    null);
                        }
                        log.error("redis: risk accepted server={} {}", server.address(), risk.what());
                    }
                    case WARNING -> log.warn("redis: server={} {}", server.address(), risk.what());
                    default -> log.debug("redis: server={} {}", server.address(), risk.what());
                }
            }
        }
    }

    /** What the product relies on, whoever made the configuration. */
    private static void ours(Config config) {
        // A lease is checked inside each pop, so it needs no replica.
        config.setCheckLockSyncedSlaves(false);
        // With the client's cache an EVAL is sent as EVALSHA again, and a server that has lost its scripts never gets
        // the text.
        config.setUseScriptCache(false);
        // Arguments are bytes: looking into each for an object of the client's costs time and finds none.
        config.setReferenceEnabled(false);
    }

    private static Config configOf(RedisOptions options) {
        Config config = new Config();
        config.setCodec(ByteArrayCodec.INSTANCE);
        config.setNettyThreads(NETTY_THREADS);
        config.setThreads(NETTY_THREADS);
        ours(config);
        config.setSlavesSyncTimeout(options.replyTimeout().toMillis());
        if (options.user() != null) {
            config.setUsername(options.user());
        }
        if (options.password() != null) {
            config.setPassword(options.password());
        }
        if (options.trustStore() != null) {
            try {
                config.setSslTruststore(options.trustStore().toUri().toURL());
            } catch (MalformedURLException e) {
                throw new IllegalArgumentException(
                        "trust store " + options.trustStore() + " is not a readable path", e);
            }
            config.setSslTruststorePassword(options.trustStorePassword());
        }
        List<String> urls = options.addresses().stream()
                .map(address -> (options.tls() ? "rediss://" : "redis://") + address)
                .toList();
        switch (options.mode()) {
            case SINGLE ->
                common(
                        config.useSingleServer()
                                .setAddress(urls.get(0))
                                .setDatabase(options.database())
                                .setConnectionPoolSize(CONNECTIONS)
                                .setConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                                .setSubscriptionConnectionMinimumIdleSize(1)
                                .setSubscriptionConnectionPoolSize(pubSubConnections(options)),
                        options);
            case CLUSTER -> {
                var servers = config.useClusterServers();
                servers.setNodeAddresses(urls);
                servers.setScanInterval((int) CLUSTER_SCAN_MS);
                common(pooled(servers, options), options);
            }
            case SENTINEL -> {
                var servers = config.useSentinelServers();
                servers.setSentinelAddresses(urls);
                servers.setMasterName(options.master());
                servers.setCheckSentinelsList(false);
                servers.setScanInterval((int) CLUSTER_SCAN_MS);
                common(pooled(servers, options), options);
            }
            default -> throw new IllegalStateException("mode " + options.mode());
        }
        return config;
    }

    private static int pubSubConnections(RedisOptions options) {
        return 1 + options.subscriptions() / CHANNELS_PER_CONNECTION;
    }

    private static <T extends BaseMasterSlaveServersConfig<T>> T pooled(T servers, RedisOptions options) {
        return servers.setReadMode(ReadMode.MASTER)
                .setMasterConnectionPoolSize(CONNECTIONS)
                .setMasterConnectionMinimumIdleSize(IDLE_CONNECTIONS)
                .setSlaveConnectionPoolSize(CONNECTIONS)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(pubSubConnections(options));
    }

    private static <T extends BaseConfig<T>> void common(T servers, RedisOptions options) {
        servers.setTimeout((int) options.replyTimeout().toMillis());
        servers.setConnectTimeout(CONNECT_TIMEOUT_MS);
        servers.setPingConnectionInterval((int) PING_MS);
        servers.setSubscriptionsPerConnection(CHANNELS_PER_CONNECTION);
        servers.setRetryAttempts(0);
    }
}
