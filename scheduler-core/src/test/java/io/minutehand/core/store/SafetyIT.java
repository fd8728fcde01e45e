package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.SingleServer;
import io.minutehand.core.store.ServerFacts.Level;
import io.minutehand.core.store.ServerFacts.Risk;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisSentinel;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.redisson.config.Config;

/** A process does not start on a Redis that would lose its jobs, unless it is told to. */
@Beside
@SingleServer("starts each deployment that it checks by itself")
class SafetyIT {
    @Test
    void shouldRefuseAServerThatEvicts() {
        try (RedisServer server = RedisServer.start(
                RedisSettings.defaults().withAppendOnly().with("maxmemory 100mb", "maxmemory-policy allkeys-lru"))) {
            RedisOptions options = RedisOptions.of(server.uri());

            assertThatThrownBy(() -> StoreConnection.open(options).close())
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED))
                    .hasMessageContaining("127.0.0.1:" + server.port())
                    .hasMessageContaining("maxmemory=104857600 maxmemory-policy=allkeys-lru")
                    .hasMessageContaining("withRisksAccepted");
            try (StoreConnection accepted = StoreConnection.open(options.withRisksAccepted())) {
                assertThat(levels(accepted)).contains(Level.REFUSED);
            }
            try (RedisCommands redis = server.connect()) {
                redis.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
            }
            try (StoreConnection safe = StoreConnection.open(options)) {
                assertThat(levels(safe)).containsOnly(Level.NOTE);
            }
        }
    }

    @Test
    void shouldRefuseAReplicaAndTakeItsPrimary() {
        try (RedisSentinel sentinel = RedisSentinel.start()) {
            RedisServer replica = sentinel.servers().get(1);

            assertThatThrownBy(() ->
                            StoreConnection.open(RedisOptions.of(replica.uri())).close())
                    .hasMessageContaining("127.0.0.1:" + replica.port())
                    .hasMessageContaining("role=slave");
            String addresses = sentinel.sentinels().stream()
                    .map(each -> "127.0.0.1:" + each.port())
                    .collect(Collectors.joining(","));
            try (StoreConnection connection = StoreConnection.open(RedisOptions.of(
                    "redis+sentinel://:" + sentinel.password() + "@" + addresses + "/" + sentinel.masterName()))) {
                ServerFacts primary = connection.servers().get(0);
                assertThat(primary.address())
                        .isEqualTo("127.0.0.1:" + sentinel.servers().get(0).port());
                assertThat(primary.replicas()).isEqualTo(1);
                assertThat(primary.role()).isEqualTo("master");
            }
        }
    }

    @Test
    void shouldAskEveryPrimaryOfACluster() {
        try (RedisCluster cluster = RedisCluster.start(3, 0);
                StoreConnection connection =
                        StoreConnection.open(RedisOptions.of("redis+cluster://:" + cluster.password() + "@127.0.0.1:"
                                + cluster.nodes().get(0).port()))) {
            List<ServerFacts> servers = connection.servers();

            assertThat(servers).hasSize(3).allMatch(server -> "ok".equals(server.clusterState()));
            assertThat(servers.stream().map(ServerFacts::address).collect(Collectors.toSet()))
                    .isEqualTo(cluster.nodes().stream()
                            .map(node -> "127.0.0.1:" + node.port())
                            .collect(Collectors.toSet()));
        }
    }

    @Test
    void shouldStartForAUserWhoMayNotAsk() {
        try (RedisServer server = RedisServer.start(RedisSettings.defaults().withAppendOnly());
                RedisCommands redis = server.connect()) {
            redis.call("ACL", "SETUSER", "minutehand", "on", ">user-password", "~*", "&*", "+@all", "-config");
            RedisOptions options = RedisOptions.of("redis://minutehand:user-password@127.0.0.1:" + server.port());
            try (StoreConnection connection = StoreConnection.open(options)) {
                assertThat(connection.servers().get(0).appendFsync()).isNull();
            }
            redis.call("ACL", "SETUSER", "minutehand", "-info");
            try (StoreConnection connection = StoreConnection.open(options)) {
                assertThatThrownBy(connection::servers)
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("NOPERM");
            }
        }
    }

    @Test
    void shouldCheckAConfigurationOfTheUsersOwn() {
        try (RedisServer server =
                RedisServer.start(RedisSettings.defaults().with("maxmemory 100mb", "maxmemory-policy volatile-ttl"))) {
            Config config = new Config();
            config.setNettyThreads(2).setThreads(2).setPassword(server.password());
            config.useSingleServer()
                    .setAddress("redis://127.0.0.1:" + server.port())
                    .setConnectionMinimumIdleSize(1);

            assertThatThrownBy(() -> StoreConnection.of(config, "mine").close()).hasMessageContaining("volatile-ttl");
            StoreConnection.of(config, "mine", true).close();
        }
    }

    private static Set<Level> levels(StoreConnection connection) {
        return connection.servers().stream()
                .flatMap(server -> server.risks().stream())
                .map(Risk::level)
                .collect(Collectors.toSet());
    }
}
