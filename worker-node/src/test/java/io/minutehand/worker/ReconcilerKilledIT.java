package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.SharedRedis;
import io.minutehand.worker.ReconcilerProcess.HoldAt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Two reconcilers, processes of their own, and live traffic for the same rows; the one that works is killed in mid-page, again and again, within one
 * pass. {@code -Dreconcile.kills=20} kills more often, {@code -Dreconcile.seed} repeats a run.
 */
class ReconcilerKilledIT {
    private static final Duration LONG = Duration.ofSeconds(90);
    private static final int KILLS = Integer.getInteger("reconcile.kills", 3);
    private static final int ROWS = 1500 + 300 * KILLS;

    private final RedisOptions redis = Workers.ownNamespace();
    private final PostgresSchema schema = SharedPostgres.newSchema(ReconcilerKilledIT.class);
    private final LedgerTable orders = new LedgerTable(schema);
    private final Jobs jobs = new Jobs(redis, "orders", TopicSettings.defaults().withShards(4));
    private final List<ReconcilerProcess> living = new ArrayList<>();

    @AfterEach
    void close() {
        living.forEach(ReconcilerProcess::close);
        jobs.close();
        schema.close();
    }

    @Test
    void shouldLeaveNoPageOutAndScheduleNoJobTwice() {
        long seed = Long.getLong("reconcile.seed", System.nanoTime());
        Random random = new Random(seed);
        System.out.printf("killed reconcilers: rows=%d kills=%d seed=%d%n", ROWS, KILLS, seed);
        long dueMs = jobs.nowMs() + TimeUnit.HOURS.toMillis(1);
        orders.add(1, ROWS, dueMs);
        start(random, HoldAt.ROW);
        start(random, HoldAt.WRITTEN);

        int kills = 0;
        int live = 0;
        while (passed().isEmpty()) {
            await("one is held, or the pass is complete")
                    .atMost(LONG)
                    .until(() -> living.stream().anyMatch(ReconcilerProcess::held) || !passed().isEmpty());
            ReconcilerProcess victim =
                    living.stream().filter(ReconcilerProcess::held).findFirst().orElse(null);
            if (victim != null) {
                // Live traffic: some ids that the pass has met, and some that it has yet to meet.
                live += scheduleSome(random, dueMs);
                kills++;
                living.remove(victim);
                victim.close();
                HoldAt[] points = {HoldAt.ROW, HoldAt.WRITTEN, HoldAt.PAGE};
                start(random, kills >= KILLS ? HoldAt.NOWHERE : points[random.nextInt(points.length)]);
            }
        }

        long created = jobs.counter("accepted");
        System.out.printf("killed reconcilers: kills=%d live=%d pass=%s accepted=%d%n", kills, live, passed(), created);
        assertThat(kills).as("the other one of the two may have been held, too").isBetween(KILLS, KILLS + 1);
        assertThat(passed()).as("one pass").hasSize(1);
        assertThat(passed().get(0)).as("rows of all whole pages").startsWith(ROWS + " ");
        assertThat(created).as("each once").isEqualTo(ROWS);
        assertThat(jobs.counter("pending")).isEqualTo(ROWS);
        assertThat(jobs.missing()).isZero();
    }

    private void start(Random random, HoldAt holdAt) {
        int after = switch (holdAt) {
            case ROW -> 1 + random.nextInt(500);
            case WRITTEN -> 1 + random.nextInt(3);
            default -> 1;
        };
        living.add(ReconcilerProcess.start(SharedRedis.get().uri(), redis, schema, holdAt, after));
    }

    /** Schedules ids at random, as an application would that does not know of the reconciler. */
    private int scheduleSome(Random random, long dueMs) {
        List<NewJob> batch = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            batch.add(Jobs.job(LedgerTable.idOf(1 + random.nextInt(ROWS)), dueMs, "{}"));
        }
        jobs.scheduleAll(batch);
        return batch.size();
    }

    private List<String> passed() {
        return living.stream().flatMap(process -> process.passed().stream()).toList();
    }
}
