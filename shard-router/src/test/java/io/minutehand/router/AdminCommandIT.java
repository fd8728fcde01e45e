package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.admin.AdminCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class AdminCommandIT {
    private static final TopicSettings SETTINGS = TopicSettings.defaults().withShards(2);

    @TempDir
    Path directory;

    private final RedisOptions redis = Redises.shared();
    private final Keyspace keys = new Keyspace(redis.namespace());
    private JobRouter router;
    private TopicHandle<byte[]> orders;
    private PlayedNode node;
    private RedisCommands commands;
    private String out;
    private String err;

    @BeforeEach
    void open() {
        router = JobRouter.builder().redis(redis).declare("orders", SETTINGS).connect();
        orders = router.topic("orders");
        node = new PlayedNode(redis, "orders", SETTINGS);
        commands = SharedRedis.get().connect();
    }

    @AfterEach
    void close() {
        node.close();
        router.close();
        commands.close();
    }

    @Test
    void shouldShowTopics() throws Exception {
        schedule("a", Duration.ofMinutes(10));

        assertThat(admin("topics")).isZero();
        assertThat(out).contains("topic ", "shards", "in flight", "orders", "PT30S", "=2");
        JsonNode json = json("topics", "orders", "--shards");
        assertThat(json.at("/topics/0/topic").asText()).isEqualTo("orders");
        assertThat(json.at("/topics/0/pending").asInt()).isEqualTo(1);
        assertThat(json.at("/topics/0/servers/0").asText()).matches("127\\.0\\.0\\.1:\\d+=2");
        assertThat(json.at("/shards")).hasSize(2);
        assertThat(admin("topics", "invoices")).isEqualTo(1);
        assertThat(err).contains("topic invoices is not declared").contains("counters start anew");
    }

    @Test
    void shouldTellWhatOfAServerEndangersJobs() throws Exception {
        assertThat(admin("check")).as("no append-only file here").isEqualTo(1);
        assertThat(out).contains("appendonly", "noeviction", "WARNING", "appendonly=no");
        assertThat(admin("check", "--json")).isEqualTo(1);
        JsonNode json = new ObjectMapper().readTree(out);
        assertThat(json.at("/servers/0/server").asText()).matches("127\\.0\\.0\\.1:\\d+");
        assertThat(json.at("/servers/0/role").asText()).isEqualTo("master");
        assertThat(json.at("/risks").findValuesAsText("level")).contains("WARNING", "NOTE");
    }

    @Test
    void shouldChangeTheShardCount() throws Exception {
        schedule("a", Duration.ofMinutes(10));

        JsonNode json = json("reshard", "orders", "5", "--notice=0");

        assertThat(json.at("/shards_before").asInt()).isEqualTo(2);
        assertThat(json.at("/shards").asInt()).isEqualTo(5);
        assertThat(json.at("/epoch").asInt()).isEqualTo(2);
        assertThat(json.at("/earlier/0").asInt()).isEqualTo(2);
        assertThat(admin("job", "show", "orders", "a"))
                .as("found in its earlier home")
                .isZero();
        assertThat(orders.find("a").join()).isPresent();
        assertThat(admin("reshard", "orders", "0")).isEqualTo(2);
        assertThat(err).contains("shards=0");
        assertThat(admin("reshard", "orders", "6", "--notice=601")).isEqualTo(2);
    }

    @Test
    void shouldPauseAndResume() throws Exception {
        schedule("a", Duration.ofMinutes(10));

        assertThat(json("pause", "orders").at("/paused").asText()).isEqualTo("until resumed");
        assertThat(json("topics", "orders").at("/topics/0/paused").asText()).isEqualTo("until resumed");
        assertThat(json("pause", "orders", "--for=60").at("/paused").asText()).matches("until 20\\d\\d-.*Z");
        assertThat(json("resume", "orders").at("/paused").asText()).isEqualTo("no");
        assertThat(json("topics", "orders").at("/topics/0/paused").asText()).isEqualTo("no");
        assertThat(admin("pause", "orders", "--for=0")).isEqualTo(2);
        assertThat(err).contains("--for=0, allowed are 1 and more");
        assertThat(admin("pause", "invoices")).isEqualTo(1);
        assertThat(err).contains("topic invoices is not declared");
    }

    @Test
    void shouldShowBucketsAndNodes() throws Exception {
        schedule("a", Duration.ofMinutes(10));
        schedule("a2", Duration.ofMinutes(20));

        assertThat(admin("buckets", "orders")).isZero();
        assertThat(out).contains("minute", "jobs", "lease ms");
        assertThat(json("buckets", "orders", "--shard=" + shardOf("a").shard(), "--limit=1")
                        .at("/buckets"))
                .hasSize(1);
        assertThat(admin("buckets", "orders", "--shard=2")).isEqualTo(2);
        assertThat(err).contains("0 to 1");
        assertThat(admin("nodes")).isZero();
        assertThat(out).contains("no nodes");
        commands.call("ZADD", keys.nodes(), 5001, "77");
        JsonNode nodes = json("nodes");
        assertThat(nodes.at("/nodes/0/id").asText()).isEqualTo("77");
        assertThat(nodes.at("/nodes/0/beats").asInt()).isEqualTo(5);
        assertThat(nodes.at("/nodes/0/last_beat_ms").isNull())
                .as("it is silent")
                .isTrue();
    }

    @Test
    void shouldShowCancelAndMoveAJob() throws Exception {
        schedule("a", Duration.ofMinutes(10));

        assertThat(admin("job", "show", "orders", "a")).isZero();
        assertThat(out).contains("PENDING", "attempt", "bytes        7").doesNotContain("payload");
        assertThat(json("job", "show", "orders", "a", "--payload")
                        .at("/payload")
                        .asText())
                .isEqualTo("{\"n\":1}");
        assertThat(admin("job", "reschedule", "orders", "a", "--in=7200")).isZero();
        assertThat(out).contains("MOVED");
        assertThat(admin("job", "reschedule", "orders", "a", "--at=tomorrow")).isEqualTo(2);
        assertThat(admin("job", "reschedule", "orders", "a")).isEqualTo(2);
        assertThat(admin("job", "reschedule", "orders", "a", "--at=+999999999-01-01T00:00:00Z"))
                .isEqualTo(2);
        assertThat(admin("job", "reschedule", "orders", "a", "--at=-999999999-01-01T00:00:00Z"))
                .as("long ago means now")
                .isZero();
        assertThat(admin("job", "reschedule", "orders", "a", "--in=" + Long.MIN_VALUE))
                .isEqualTo(2);
        assertThat(admin("job", "cancel", "orders", "a")).isZero();
        assertThat(out).contains("CANCELLED");
        assertThat(admin("job", "reschedule", "orders", "a", "--now")).isEqualTo(1);
        assertThat(out).contains("ENDED", "CANCELLED");
        assertThat(admin("job", "show", "orders", "unheard-of")).isEqualTo(1);
        assertThat(err).contains("has no job unheard-of");
        assertThat(admin("job", "show", "orders", "no{id}")).isEqualTo(2);
        assertThat(orders.find("a").join().orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    void shouldListAndShowDeadLetters() throws Exception {
        bury("a", "connection refused");
        bury("b", "evil \u001b[2J\u202e\u007f\nreason");

        assertThat(admin("dead", "list", "orders")).isZero();
        assertThat(out).contains("connection refused", "evil \\u001b[2J\\u202e\\u007f\\u000areason");
        assertThat(out).doesNotContain("\u001b", "\u202e", "\u007f");
        JsonNode json = json("dead", "list", "orders", "--reason=evil");
        assertThat(json.at("/dead")).hasSize(1);
        assertThat(json.at("/dead/0/reason").asText()).isEqualTo("evil \u001b[2J\u202e\u007f\nreason");
        assertThat(out).doesNotContain("\u001b", "\u202e", "\u007f");
        JsonNode first = json("dead", "list", "orders", "--limit=1");
        JsonNode second = json("dead", "list", "orders", "--limit=1", "--skip=1");
        assertThat(first.at("/more").asBoolean()).isTrue();
        assertThat(second.at("/more").asBoolean()).isFalse();
        assertThat(List.of(
                        first.at("/dead/0/id").asText(), second.at("/dead/0/id").asText()))
                .containsExactlyInAnyOrder("a", "b");
        assertThat(admin("dead", "show", "orders", "a")).isZero();
        assertThat(out).contains("connection refused", "last failure").doesNotContain("payload");
        assertThat(json("dead", "show", "orders", "a", "--payload")
                        .at("/payload")
                        .asText())
                .isEqualTo("{\"n\":1}");
        assertThat(admin("dead", "show", "orders", "c")).isEqualTo(1);
        assertThat(admin("dead", "list", "orders", "--limit=0")).isEqualTo(2);
    }

    @Test
    void shouldRedriveById() throws Exception {
        bury("a", "broken");
        Path payload = Files.writeString(directory.resolve("payload"), "{\"n\":2}", StandardCharsets.UTF_8);

        assertThat(admin("dead", "redrive", "orders", "a", "--payload-file=" + payload))
                .isZero();
        assertThat(out).contains("1 redriven");
        assertThat(admin("dead", "redrive", "orders", "a")).isEqualTo(1);
        assertThat(out).contains("0 redriven, 1 were no dead letters");
        assertThat(node.take("a").job().payload()).asString().isEqualTo("{\"n\":2}");
        assertThat(admin("dead", "redrive", "orders", "--all", "--yes", "--payload-file=" + payload))
                .isEqualTo(2);
        assertThat(admin("dead", "redrive", "orders", "a", "--payload-file=" + directory.resolve("none")))
                .isEqualTo(2);
        assertThat(admin("dead", "redrive", "orders", "a", "--payload-file=/dev/zero"))
                .as("without an end")
                .isEqualTo(2);
        assertThat(admin("dead", "redrive", "orders")).isEqualTo(2);
        assertThat(admin("dead", "redrive", "orders", "a", "--all")).isEqualTo(2);
        assertThat(admin("dead", "redrive", "orders", "--all", "--yes", "--rate=0"))
                .isEqualTo(2);
    }

    @Test
    void shouldCountBeforeItDoesWhatIsDangerous() throws Exception {
        bury("a", "connection refused");
        bury("b", "no money");
        bury("c", "connection reset");

        assertThat(admin("dead", "redrive", "orders", "--reason=connection")).isEqualTo(1);
        assertThat(out).contains("2 dead letters match", "nothing was done; add --yes");
        assertThat(admin("dead", "purge", "orders", "--reason=", "--yes"))
                .as("an unset variable of a shell")
                .isEqualTo(2);
        assertThat(admin("dead", "purge", "orders", "--all")).isEqualTo(1);
        assertThat(out).contains("3 dead letters match", "nothing was done");
        assertThat(node.counter("purged") + node.counter("redriven")).isZero();

        JsonNode redriven = json("dead", "redrive", "orders", "--reason=connection", "--yes", "--rate=1000");
        assertThat(redriven.toString()).isEqualTo("{\"matching\":2,\"redriven\":2,\"missed\":0,\"complete\":true}");
        assertThat(node.pending()).isEqualTo(2);
        assertThat(admin("dead", "purge", "orders", "--all", "--yes")).isZero();
        assertThat(out).contains("1 dead letters match", "1 purged");
        assertThat(node.counter("purged")).isEqualTo(1);
        assertThat(node.missing()).isZero();
    }

    @Test
    void shouldAuditAndRepair() throws Exception {
        schedule("a", Duration.ofMinutes(10));
        schedule("b", Duration.ofMinutes(10));

        assertThat(admin("audit")).isZero();
        assertThat(out).contains("fine: 2 shards, 0 findings");
        assertThat(admin("audit", "--deep")).isZero();
        assertThat(out).contains("fine: 2 shards, 2 records, 0 findings");

        commands.call("DEL", keys.index(shardOf("a")));
        String minute = commands.texts("KEYS", keys.namespace() + ":{" + shardOf("a") + "}:b:*")
                .get(0);
        commands.call("ZREM", minute, ShardMap.memberOf("a"));
        assertThat(admin("audit")).as("counters do not show it").isZero();
        assertThat(admin("audit", "--deep", "--topic=orders")).isEqualTo(1);
        assertThat(out).contains("NOT fine", "PENDING_WITHOUT_ENTRY", "not in its bucket");

        JsonNode mended = json("audit", "--deep", "--repair");
        assertThat(mended.at("/open").asInt()).isZero();
        assertThat(mended.at("/repaired").asInt()).isPositive();
        assertThat(mended.at("/findings/0/repaired").asBoolean()).isTrue();
        assertThat(admin("audit", "--deep")).isZero();
        assertThat(admin("audit", "--repair")).isEqualTo(2);
        assertThat(admin("audit", "--topic=invoices")).isEqualTo(1);
        commands.call("HDEL", keys.ledger(new ShardId("orders", 0)), "epoch");
        assertThat(admin("audit")).isZero();
        assertThat(out).contains("its counters start anew");
    }

    @Test
    void shouldSayThatNothingIsDeclared() {
        assertThat(run(
                        "audit",
                        "--redis",
                        SharedRedis.get().uri().toString(),
                        "--namespace=empty-" + redis.namespace()))
                .isOne();
        assertThat(out).contains("no topics are declared", "all counters start anew", "NOT fine: 0 shards");
    }

    @Test
    void shouldNotCallFineWhatItCannotRead() {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            String topics = redis.namespace() + ":topics";
            commands.call("HSET", topics, "spoilt", "{}");
            try {
                assertThat(admin("audit")).isOne();
                assertThat(out).contains("topic spoilt was not audited", "NOT fine");
            } finally {
                commands.call("HDEL", topics, "spoilt");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "job", "dead", "fly", "topics --colour", "job show orders"})
    void shouldRefuseWhatItDoesNotKnow(String line) {
        assertThat(run(line.isEmpty() ? new String[0] : line.split(" "))).isEqualTo(2);
        assertThat(err).contains("Usage: admin");
    }

    @Test
    void shouldSayInALineThatRedisCannotBeReached() {
        assertThat(run("topics", "--redis=redis://:secret@127.0.0.1:1")).isEqualTo(1);
        assertThat(err).contains("cannot connect").doesNotContain("secret", "\tat ");
        assertThat(run("topics", "--redis=http://127.0.0.1")).isEqualTo(2);
    }

    private int admin(String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        all.add("--redis=" + SharedRedis.get().uri());
        all.add("--namespace=" + redis.namespace());
        return run(all.toArray(String[]::new));
    }

    private JsonNode json(String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of(words));
        all.add("--json");
        assertThat(admin(all.toArray(String[]::new))).isZero();
        assertThat(out.lines()).hasSize(1);
        return new ObjectMapper().readTree(out);
    }

    private int run(String... words) {
        StringWriter said = new StringWriter();
        StringWriter complained = new StringWriter();
        int status = new CommandLine(new AdminCommand())
                .setOut(new PrintWriter(said))
                .setErr(new PrintWriter(complained))
                .execute(words);
        out = said.toString();
        err = complained.toString();
        return status;
    }

    private void schedule(String id, Duration after) {
        assertThat(orders.schedule(JobSpec.of("{\"n\":1}".getBytes(StandardCharsets.UTF_8))
                                .id(id)
                                .after(after))
                        .join()
                        .status()
                        .accepted())
                .isTrue();
    }

    private void bury(String id, String reason) {
        schedule(id, Duration.ZERO);
        node.bury(node.take(id), reason);
    }

    private static ShardId shardOf(String id) {
        return new ShardId("orders", ShardMap.shardOf(id, SETTINGS.shards()));
    }
}
