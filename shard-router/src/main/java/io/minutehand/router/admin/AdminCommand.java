package io.minutehand.router.admin;

import io.minutehand.core.admin.Admin.NodeView;
import io.minutehand.core.admin.Admin.ShardView;
import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.ServerFacts;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The {@code admin} command. */
@Command(
        name = "admin",
        description = "Looks at a running cluster, audits it, and acts on single jobs and dead letters.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {AuditCommand.class, JobCommand.class, DeadCommand.class},
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:fine", "1:there are findings, or it was refused or failed", "2:the options are wrong"})
public final class AdminCommand implements Runnable {
    /** Longer than a beat, so that every node that lives is seen to. */
    private static final Duration WATCH = Duration.ofMillis(2500);

    private static final List<String> COUNTERS = List.of(
            "accepted", "pending", "done", "cancelled", "purged", "orphans", "retried", "recovered", "redriven");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    /** The command with all its subcommands. */
    public AdminCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Which command? See below.");
    }

    @Command(
            name = "topics",
            description = "Topics: settings, sums of their counters, which servers hold their shards.",
            mixinStandardHelpOptions = true)
    int topics(
            @Mixin AdminOptions options,
            @Parameters(arity = "0..1", paramLabel = "TOPIC", description = "Only this one.") @Nullable String only,
            @Option(names = "--shards", description = "A line for each shard.") boolean shards) {
        return options.run((connection, admin, printer) -> {
            List<StoredTopic> topics = only == null ? admin.topics() : List.of(AdminOptions.topic(admin, only));
            List<Map<String, Object>> rows = new ArrayList<>();
            List<Map<String, Object>> shardRows = new ArrayList<>();
            for (StoredTopic topic : topics) {
                List<ShardView> views = admin.shards(topic);
                rows.add(topicRow(topic, views, nowMs(connection, topic)));
                if (shards) {
                    views.forEach(view -> shardRows.add(shardRow(view)));
                }
            }
            if (topics.isEmpty()) {
                printer.line(
                        "no topics are declared in namespace %s",
                        connection.keys().namespace());
            }
            printer.rows("topics", rows);
            if (shards) {
                printer.line("");
                printer.rows("shards", shardRows);
            }
            return AdminOptions.FINE;
        });
    }

    private static Map<String, Object> topicRow(StoredTopic topic, List<ShardView> shards, long nowMs) {
        TopicSettings settings = topic.settings();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", topic.topic());
        row.put("epoch", topic.epoch());
        row.put("shards", settings.shards());
        row.put("paused", pausedUntil(topic, nowMs));
        row.put(
                "in_flight",
                shards.stream().mapToLong(view -> view.stats().inFlight()).sum());
        row.put("dead", shards.stream().mapToLong(view -> view.stats().dead()).sum());
        for (String counter : COUNTERS) {
            row.put(
                    counter,
                    shards.stream()
                            .mapToLong(view -> view.stats().counter(counter))
                            .sum());
        }
        row.put("delivery", settings.delivery().name());
        row.put("visibility", settings.visibility().toString());
        row.put("retention", settings.retention().toString());
        row.put("retry", settings.retry().kind() + "x" + settings.retry().retries());
        row.put("dead_limit", settings.deadLimit());
        Map<String, Integer> spread = new TreeMap<>();
        shards.forEach(view -> spread.merge(view.server(), 1, Integer::sum));
        row.put(
                "servers",
                spread.entrySet().stream()
                        .map(e -> e.getKey() + "=" + e.getValue())
                        .toList());
        return row;
    }

    private static Map<String, Object> shardRow(ShardView view) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", view.shard().topic());
        row.put("shard", view.shard().shard());
        row.put("server", view.server());
        row.put("buckets", view.stats().buckets());
        row.put("in_flight", view.stats().inFlight());
        row.put("dead", view.stats().dead());
        for (String counter : COUNTERS) {
            row.put(counter, view.stats().counter(counter));
        }
        return row;
    }

    @Command(
            name = "check",
            description = {
                "What each Redis primary is set to, and what of it endangers jobs.",
                "Exit status 1 if something is refused or warned of."
            },
            mixinStandardHelpOptions = true)
    int check(@Mixin AdminOptions options) {
        return options.run((connection, admin, printer) -> {
            List<Map<String, @Nullable Object>> servers = new ArrayList<>();
            List<Map<String, Object>> risks = new ArrayList<>();
            int status = AdminOptions.FINE;
            for (ServerFacts server : connection.servers()) {
                servers.add(serverRow(server));
                for (ServerFacts.Risk risk : server.risks()) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("level", risk.level().name());
                    row.put("server", server.address());
                    row.put("what", risk.what());
                    risks.add(row);
                    status = risk.level() == ServerFacts.Level.NOTE ? status : AdminOptions.AMISS;
                }
            }
            printer.rows("servers", servers);
            printer.line("");
            printer.rows("risks", risks);
            if (risks.isEmpty()) {
                printer.line("nothing endangers jobs");
            }
            return status;
        });
    }

    private static Map<String, @Nullable Object> serverRow(ServerFacts server) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("server", server.address());
        row.put("version", server.version());
        row.put("role", server.role());
        row.put("maxmemory", server.maxMemoryBytes());
        row.put("policy", server.evictionPolicy());
        row.put("appendonly", server.appendOnly() ? "yes" : "no");
        row.put("appendfsync", server.appendFsync());
        row.put("replicas", server.replicas());
        row.put("cluster", server.clusterState());
        return row;
    }

    @Command(
            name = "reshard",
            description = {
                "Changes the shard count of a topic while jobs flow.",
                "Nodes are given some seconds to take over the shards to come; jobs stay where they are until they have ended."
            },
            mixinStandardHelpOptions = true)
    int reshard(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String name,
            @Parameters(paramLabel = "SHARDS", description = "The count to come.") int shards,
            @Option(
                            names = "--notice",
                            paramLabel = "SECONDS",
                            defaultValue = "12",
                            description =
                                    "How long nodes get to own the new shards, 0 to 600 (default ${DEFAULT-VALUE}); with less than 6 jobs may be late.")
                    int noticeSeconds) {
        return options.run((connection, admin, printer) -> {
            if (noticeSeconds < 0 || noticeSeconds > 600) {
                throw new IllegalArgumentException("--notice=" + noticeSeconds + ", allowed are 0 to 600");
            }
            StoredTopic before = AdminOptions.topic(admin, name);
            Duration notice = Duration.ofSeconds(noticeSeconds);
            StoredTopic after = admin.reshard(before, shards, notice);
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("topic", name);
            fields.put("shards_before", before.settings().shards());
            fields.put("shards", after.settings().shards());
            fields.put("epoch", after.epoch());
            fields.put("earlier", after.earlier());
            printer.fields(fields);
            return AdminOptions.FINE;
        });
    }

    @Command(
            name = "pause",
            description = {
                "Has no node take jobs of a topic, which all nodes know within a second or so.",
                "Jobs are stored, moved and cancelled as ever; what runs is not touched."
            },
            mixinStandardHelpOptions = true)
    int pause(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String name,
            @Option(
                            names = "--for",
                            paramLabel = "SECONDS",
                            description = "How long, 1 and more (default: until it is resumed).")
                    @Nullable
                    Long seconds) {
        return options.run((connection, admin, printer) -> {
            if (seconds != null && seconds < 1) {
                throw new IllegalArgumentException("--for=" + seconds + ", allowed are 1 and more");
            }
            StoredTopic topic = AdminOptions.topic(admin, name);
            StoredTopic paused = admin.pause(topic, seconds == null ? null : Duration.ofSeconds(seconds));
            printer.fields(pauseRow(paused, nowMs(connection, paused)));
            return AdminOptions.FINE;
        });
    }

    @Command(name = "resume", description = "Has nodes take jobs of a topic again.", mixinStandardHelpOptions = true)
    int resume(@Mixin AdminOptions options, @Parameters(paramLabel = "TOPIC") String name) {
        return options.run((connection, admin, printer) -> {
            StoredTopic resumed = admin.resume(AdminOptions.topic(admin, name));
            printer.fields(pauseRow(resumed, nowMs(connection, resumed)));
            return AdminOptions.FINE;
        });
    }

    private static Map<String, Object> pauseRow(StoredTopic topic, long nowMs) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", topic.topic());
        row.put("paused", pausedUntil(topic, nowMs));
        return row;
    }

    private static long nowMs(StoreConnection connection, StoredTopic topic) {
        return connection.clock(new ShardId(topic.topic(), 0)).nowMs();
    }

    /** "no", "until resumed", or "until" a time. */
    private static String pausedUntil(StoredTopic topic, long nowMs) {
        long untilMs = topic.pausedUntilMs();
        if (!topic.paused(nowMs)) {
            return "no";
        }
        return untilMs == StoredTopic.UNTIL_RESUMED ? "until resumed" : "until " + Instant.ofEpochMilli(untilMs);
    }

    @Command(
            name = "buckets",
            description = "Buckets of a topic: how many jobs wait in each, who has its lease.",
            mixinStandardHelpOptions = true)
    int buckets(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String name,
            @Option(names = "--shard", paramLabel = "N", description = "Only this shard.") @Nullable Integer shard,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Buckets of a shard at most, oldest first (default ${DEFAULT-VALUE}).")
                    int limit) {
        return options.run((connection, admin, printer) -> {
            int shards = AdminOptions.topic(admin, name).allShards();
            if (limit < 1 || limit > 10_000 || (shard != null && (shard < 0 || shard >= shards))) {
                throw new IllegalArgumentException(
                        "--limit=" + limit + " --shard=" + shard + ", allowed are 1 to 10000 and 0 to " + (shards - 1));
            }
            List<Map<String, Object>> rows = new ArrayList<>();
            List<Integer> cut = new ArrayList<>();
            for (int i = shard == null ? 0 : shard; i <= (shard == null ? shards - 1 : shard); i++) {
                ShardId id = new ShardId(name, i);
                if (admin.buckets(id, limit, bucket -> {
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("shard", id.shard());
                    row.put("minute", bucket.minute());
                    row.put(
                            "begins",
                            Instant.ofEpochMilli(Minutes.startMs(bucket.minute()))
                                    .toString());
                    row.put("jobs", bucket.jobs());
                    row.put(
                            "first_due",
                            bucket.firstDueMs() < 0
                                    ? ""
                                    : Instant.ofEpochMilli(bucket.firstDueMs()).toString());
                    row.put("node", bucket.node() == null ? "" : bucket.node());
                    row.put("lease_ms", Math.max(0, bucket.leaseMs()));
                    rows.add(row);
                })) {
                    cut.add(i);
                }
            }
            printer.rows("buckets", rows);
            printer.put("more_in_shards", cut);
            if (rows.isEmpty()) {
                printer.line("no jobs wait");
            } else if (!cut.isEmpty()) {
                printer.line("there are more in shards %s; --limit shows them", cut);
            }
            return AdminOptions.FINE;
        });
    }

    @Command(
            name = "nodes",
            description = "Nodes on the list of the living: watches for a moment which of them beat.",
            mixinStandardHelpOptions = true)
    int nodes(@Mixin AdminOptions options) {
        return options.run((connection, admin, printer) -> {
            List<Map<String, @Nullable Object>> rows = new ArrayList<>();
            for (NodeView node : admin.nodes(WATCH)) {
                Map<String, @Nullable Object> row = new LinkedHashMap<>();
                row.put("id", node.id());
                row.put("name", node.name());
                Duration lastBeat = node.lastBeat();
                row.put("last_beat_ms", lastBeat == null ? null : lastBeat.toMillis());
                row.put("beats", node.beats());
                row.put("topics", node.description().getOrDefault("topics", ""));
                row.put("without_slots_for", node.description().getOrDefault("shed", ""));
                row.put("stopping", node.description().getOrDefault("draining", ""));
                rows.add(row);
            }
            printer.rows("nodes", rows);
            if (rows.isEmpty()) {
                printer.line("no nodes");
            } else if (rows.stream().anyMatch(row -> row.get("last_beat_ms") == null)) {
                printer.line(
                        "a node without a last beat was silent for the %d ms that it was watched", WATCH.toMillis());
            }
            return AdminOptions.FINE;
        });
    }
}
