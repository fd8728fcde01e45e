package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.Durability;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.router.OnFull;
import io.minutehand.router.RouterDefaults;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerSettings;
import io.minutehand.worker.reconcile.ReconcilerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The numbers of the README are those of the code: each row of its table of settings, its limits, its versions. */
class ReadmeSettingsTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$", Pattern.MULTILINE);

    private String readme;

    @BeforeEach
    void read() throws IOException {
        readme = Files.readString(Path.of("../../README.md"));
    }

    @Test
    void shouldNameTheDefaultOfEachSetting() {
        TopicSettings topic = TopicSettings.defaults();
        WorkerSettings worker = WorkerSettings.defaults();
        RedisOptions redis = RedisOptions.of("redis://localhost");
        Map<String, String> defaults = new LinkedHashMap<>();
        defaults.put("shards of a topic", Integer.toString(topic.shards()));
        defaults.put("visibility (extended every third of it while a handler runs)", text(topic.visibility()));
        defaults.put("handler time-out", text(topic.handlerTimeout()));
        defaults.put(
                "retention of tombstones (0 = none, else " + text(TopicSettings.SHORTEST_RETENTION) + " or more)",
                text(topic.retention()));
        defaults.put("dead letters of a topic", count(topic.deadLimit()) + " and " + text(topic.deadAge()));
        defaults.put(
                "delivery", topic.delivery().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        assertThat(topic.retry()).isEqualTo(RetryPolicy.quadratic(topic.retry().retries()));
        defaults.put("retry policy", "n * n s, " + topic.retry().retries() + " retries");
        assertThat(TopicOptions.defaults().concurrency()).as("all slots").isZero();
        defaults.put("handler slots of a node / of a topic", worker.slots() + " / all");
        defaults.put(
                "lease / renew / beat / dead after",
                text(worker.lease()) + " / " + text(worker.renew()) + " / " + text(worker.beat()) + " / "
                        + text(worker.deadAfter()));
        defaults.put("claim ahead", text(worker.claimAhead()));
        defaults.put("check of each shard's ledger", text(worker.ledgerCheck()));
        defaults.put("stop grace", text(worker.stopGrace()));
        assertThat(RouterDefaults.onFull()).isEqualTo(OnFull.BLOCK);
        defaults.put(
                "router buffer",
                RouterDefaults.bufferBytes() / 1024 / 1024 + " MiB, then block up to " + text(RouterDefaults.blockFor())
                        + " (or fail)");
        defaults.put("router deadline", text(RouterDefaults.deadline()));
        assertThat(RouterDefaults.durability()).isEqualTo(Durability.MEMORY);
        defaults.put("durability", "`MEMORY`");
        defaults.put(
                "batch of a shard",
                "what arrives during one round trip, at most " + Limits.BATCH_JOBS + " jobs or "
                        + Limits.BATCH_BYTES / 1024 / 1024 + " MiB");
        defaults.put("reply time-out", text(redis.replyTimeout()));
        defaults.put("namespace", "`" + redis.namespace() + "`");

        assertThat(rows("## Settings")).containsExactlyEntriesOf(defaults);
    }

    @Test
    void shouldNameTheDefaultsOfAReconciler() {
        ReconcilerSettings settings = ReconcilerSettings.defaults();

        assertThat(readme)
                .contains("period, from the beginning of one pass to that of the next | " + minutes(settings.period()))
                .contains("look-ahead; more than the period and a pass | " + minutes(settings.lookAhead()))
                .contains("rows of a page / fetched at a time | " + settings.pageSize() + " / " + settings.fetchSize())
                .contains("rows a second, at most | " + count(settings.rowsPerSecond()))
                .contains("query time-out / lease | " + text(settings.queryTimeout()) + " / " + text(settings.lease()))
                .contains("dry run | " + (settings.dryRun() ? "on" : "off"));
    }

    private static String minutes(Duration duration) {
        return duration.toMinutes() + " min";
    }

    @Test
    void shouldNameTheLimits() {
        assertThat(readme)
                .contains("`[a-z0-9._-]{1," + Limits.TOPIC_CHARS + "}`")
                .contains("`[A-Za-z0-9._:@+=-]{1," + Limits.ID_CHARS + "}`")
                .containsPattern("a payload\\s+over " + Limits.PAYLOAD_BYTES / 1024 + " KiB")
                .contains("a due time over " + Limits.HORIZON.toDays() / 365 + " years ahead")
                .contains("less than the retention ("
                        + text(TopicSettings.defaults().retention()) + ") ago");
    }

    @Test
    void shouldNameTheVersionThatIsBuilt() throws IOException {
        Matcher built = Pattern.compile("<artifactId>minutehand-parent</artifactId>\\s*<version>([^<]+)</version>")
                .matcher(Files.readString(Path.of("../../pom.xml")));
        assertThat(built.find()).isTrue();

        assertThat(readme)
                .containsPattern("<artifactId>minutehand-bom</artifactId>\\s*<version>" + Pattern.quote(built.group(1))
                        + "</version>");
    }

    /** The rows of the first table below a heading: first column to second. */
    private Map<String, String> rows(String heading) {
        String below = readme.substring(readme.indexOf("\n" + heading + "\n"));
        String table = below.substring(below.indexOf("\n|"), below.indexOf("|\n\n"));
        Map<String, String> rows = new LinkedHashMap<>();
        Matcher row = ROW.matcher(table + "|");
        while (row.find()) {
            rows.put(row.group(1), row.group(2));
        }
        rows.remove("what");
        rows.remove("---");
        return rows;
    }

    private static String count(int number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String text(Duration duration) {
        if (duration.toDays() > 1) {
            return duration.toDays() + " days";
        }
        return duration.toSeconds() > 60 ? duration.toMinutes() + " min" : duration.toSeconds() + " s";
    }
}
