package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.RETENTION;
import static io.minutehand.core.store.TestStore.START_MS;
import static io.minutehand.core.store.TestStore.digest;
import static io.minutehand.core.store.TestStore.get;
import static io.minutehand.core.store.TestStore.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.store.ScriptRunner.Call;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedTestStore.class)
class ReadIT {
    private final TestStore store;

    ReadIT(TestStore store) {
        this.store = store;
    }

    @Test
    @Replies("find RECORD")
    void shouldFindALiveJobWithAllThatIsStoredOfIt() {
        byte[] payload = {0, 1, (byte) 0xff, '\n'};
        byte[] body = JobRecord.encodeBody("order 7", Map.of("x", "y"), payload);
        store.schedule(new NewJob("a", START_MS + 5, digest("1"), false, body, 0));

        JobStatus found = find("a").orElseThrow();

        assertThat(found.id()).isEqualTo("a");
        assertThat(found.state()).isEqualTo(JobState.PENDING);
        Job job = found.job();
        assertThat(job.topic()).isEqualTo(store.shard().topic());
        assertThat(job.id()).isEqualTo("a");
        assertThat(job.businessId()).isEqualTo("order 7");
        assertThat(job.headers()).isEqualTo(Map.of("x", "y"));
        assertThat(job.payload()).isEqualTo(payload);
        assertThat(job.attempt()).isEqualTo(1);
        assertThat(job.delivery()).isZero();
        assertThat(job.dueAt().toEpochMilli()).isEqualTo(START_MS + 5);
        assertThat(job.createdAt().toEpochMilli()).isEqualTo(START_MS);
        assertThat(job.lastFailure()).isNull();
        store.dead("b");
        assertThat(find("b").orElseThrow().state()).isEqualTo(JobState.DEAD);
        assertThat(find("b").orElseThrow().job().lastFailure()).isEqualTo("broken");
    }

    @Test
    @Replies("find ENDED")
    void shouldFindTheTombstoneOfAnEndedJob() {
        get(store.jobs.ack(store.shard(), store.inFlight("done"), RETENTION));
        store.schedule("cancelled", 0);
        get(store.jobs.cancel(store.shard(), "cancelled", RETENTION, soon()));

        assertThat(find("done")).contains(new JobStatus("done", JobState.DONE, null));
        assertThat(find("cancelled")).contains(new JobStatus("cancelled", JobState.CANCELLED, null));
    }

    @Test
    @Replies("find NOT_FOUND")
    void shouldFindNothingWhereNothingIsAndSayWhatItCannotRead() {
        store.schedule("newer", 0);
        store.makeNewer("newer");

        assertThat(find("unheard-of")).isEmpty();
        assertThatThrownBy(() -> find("newer"))
                .hasStackTraceContaining("job=newer exists, its record is of a newer version");
    }

    @Test
    @Replies({"stats", "audit"})
    void shouldCountWhatAShardHolds() {
        store.dead("c");
        store.inFlight("a", "b");
        store.schedule("d", 0);
        store.schedule("e", 60_000);

        ShardStats stats = get(store.jobs.stats(store.shard()));

        assertThat(stats.buckets()).isEqualTo(2);
        assertThat(stats.inFlight()).isEqualTo(2);
        assertThat(stats.dead()).isEqualTo(1);
        assertThat(stats.counters()).isEqualTo(Map.of("epoch", 1L, "accepted", 5L, "pending", 2L, "buried", 1L));
        assertThat(stats.counter("done")).isZero();
        assertThat(audit()).containsExactly(START_MS * 1000, 0L, 2L, 2L, 1L, 0L, 1L);
    }

    @Test
    void shouldNoticeWhatALedgerLacks() {
        store.inFlight("a");
        store.redis.call("HINCRBY", store.keys.ledger(store.shard()), "accepted", 3);

        assertThat(audit()).containsExactly(START_MS * 1000, 3L, 0L, 1L, 0L, 0L, 1L);
        assertThat(get(store.jobs.audit(store.shard()))).isEqualTo(3);
    }

    @Test
    void shouldCutMicrosecondsToTheirMillisecond() {
        String text = new ScriptLibrary().text(Script.AUDIT) + "\n"; // the test's clock is not in it
        String clock = text.substring(text.indexOf("local function clock()"), text.indexOf("local function digits"))
                .replace("redis.call('TIME')", "{ '1700000000', '999999' }");

        List<?> reply = (List<?>) store.redis.call("EVAL", clock + "return { clock() }", 0);

        assertThat(reply).hasToString("[1700000000999999, 1700000000999]");
        assertThat(new String(
                        (byte[]) store.redis.call(
                                "EVAL",
                                text.substring(text.indexOf("local function digits"), text.indexOf("local ledger"))
                                        + "return digits(1e15) .. ' ' .. digits(-1)",
                                0),
                        StandardCharsets.UTF_8))
                .isEqualTo("1000000000000000 -1");
    }

    private List<Object> audit() {
        return store.run(new Call(Script.AUDIT)
                .key(store.keys.ledger(store.shard()))
                .key(store.keys.inflight(store.shard()))
                .key(store.keys.dead(store.shard())));
    }

    private Optional<JobStatus> find(String id) {
        return get(store.jobs.find(store.shard(), id, soon()));
    }
}
