package io.minutehand.loadtest.fault;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.worker.WorkerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * What a run is set to, in the processes of the harness and of the workers alike: the file carries it over. Immutable.
 *
 * @param full the full form, or the short one
 * @param defaultTimes whether nodes have the product's default times
 * @param nodes worker processes at the start
 * @param slots handlers at once on a node
 * @param shards of the topic
 * @param jobs that are scheduled
 * @param schedule over which time they are scheduled
 * @param ahead the longest time between a job's schedule call and its due time
 * @param work the longest that a good handler takes
 * @param visibility of the topic
 * @param handlerTimeout of the topic
 * @param stopGrace of a node
 * @param proxied whether a proxy stands before Redis on each link
 * @param clocks whose clocks are wrong
 * @param cluster whether Redis is a Cluster of 3 primaries with a replica each, or a single server
 * @param redisConfig more lines of redis.conf, each ended by a line break
 */
@JsonAutoDetect(
        getterVisibility = JsonAutoDetect.Visibility.NONE,
        isGetterVisibility = JsonAutoDetect.Visibility.NONE,
        fieldVisibility = JsonAutoDetect.Visibility.ANY)
record RunSettings(
        boolean full,
        boolean defaultTimes,
        int nodes,
        int slots,
        int shards,
        int jobs,
        Duration schedule,
        Duration ahead,
        Duration work,
        Duration visibility,
        Duration handlerTimeout,
        Duration stopGrace,
        boolean proxied,
        Clocks clocks,
        boolean cluster,
        String redisConfig) {
    /** Whose wall clocks can be set in a run. */
    enum Clocks {
        ALL_TRUE,
        OF_WORKERS,
        OF_REDIS
    }

    /** The topic of all jobs. */
    static final String TOPIC = "fault";

    /** Attempts before a job is a dead letter. */
    static final int ATTEMPTS = 3;

    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    private static final String FILE = "run.json";
    private static final ObjectMapper MAPPER =
            JsonMapper.builder().addModule(new JavaTimeModule()).build();

    /** The short form: 2,000 jobs in 10 s, lease 2 s, dead after 1.5 s, visibility 3 s. */
    static RunSettings shortForm() {
        return new RunSettings(
                false,
                false,
                3,
                8,
                8,
                2_000,
                Duration.ofSeconds(6),
                Duration.ofSeconds(4),
                Duration.ofMillis(20),
                Duration.ofSeconds(3),
                Duration.ofMinutes(1),
                Duration.ofSeconds(3),
                false,
                Clocks.ALL_TRUE,
                false,
                "");
    }

    /** The full form: 12,000 jobs over 60 s, default times, visibility 15 s. */
    static RunSettings fullForm() {
        return new RunSettings(
                true,
                true,
                3,
                16,
                8,
                12_000,
                Duration.ofSeconds(40),
                Duration.ofSeconds(20),
                Duration.ofMillis(20),
                Duration.ofSeconds(15),
                Duration.ofMinutes(5),
                Duration.ofSeconds(5),
                false,
                Clocks.ALL_TRUE,
                false,
                "");
    }

    static RunSettings of(boolean full) {
        return full ? fullForm() : shortForm();
    }

    RunSettings withProxies() {
        return changed(draft -> draft.proxied = true);
    }

    /**
     * With the product's default times of a node, and a visibility of 15 s, as in the full form: where nobody dies, a pause of the machine must
     * not look like a death.
     */
    RunSettings withDefaultTimes() {
        return changed(draft -> {
            draft.defaultTimes = true;
            draft.visibility = fullForm().visibility;
        });
    }

    RunSettings withWork(Duration value) {
        return changed(draft -> draft.work = value);
    }

    RunSettings withSlots(int value) {
        return changed(draft -> draft.slots = value);
    }

    /** With so many jobs, scheduled over so long. */
    RunSettings withLoad(int count, Duration over) {
        return changed(draft -> {
            draft.jobs = count;
            draft.schedule = over;
        });
    }

    /** With the same rate for so long. */
    RunSettings withSchedule(Duration value) {
        return withLoad((int) (jobs * (double) value.toNanos() / schedule.toNanos()), value);
    }

    RunSettings withHandlerTimeout(Duration value) {
        return changed(draft -> draft.handlerTimeout = value);
    }

    RunSettings withClocks(Clocks value) {
        return changed(draft -> draft.clocks = value);
    }

    RunSettings withCluster() {
        return changed(draft -> draft.cluster = true);
    }

    RunSettings withRedisConfig(String lines) {
        return changed(draft -> draft.redisConfig = lines);
    }

    private RunSettings changed(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.settings(this);
    }

    /** What rows change, open to be changed. */
    private static final class Draft {
        boolean defaultTimes;
        int slots;
        int jobs;
        Duration schedule;
        Duration work;
        Duration visibility;
        Duration handlerTimeout;
        boolean proxied;
        Clocks clocks;
        boolean cluster;
        String redisConfig;

        Draft(RunSettings from) {
            defaultTimes = from.defaultTimes;
            slots = from.slots;
            jobs = from.jobs;
            schedule = from.schedule;
            work = from.work;
            visibility = from.visibility;
            handlerTimeout = from.handlerTimeout;
            proxied = from.proxied;
            clocks = from.clocks;
            cluster = from.cluster;
            redisConfig = from.redisConfig;
        }

        RunSettings settings(RunSettings rest) {
            return new RunSettings(
                    rest.full,
                    defaultTimes,
                    rest.nodes,
                    slots,
                    rest.shards,
                    jobs,
                    schedule,
                    rest.ahead,
                    work,
                    visibility,
                    handlerTimeout,
                    rest.stopGrace,
                    proxied,
                    clocks,
                    cluster,
                    redisConfig);
        }
    }

    /** The times of a node. */
    WorkerSettings node() {
        WorkerSettings node = WorkerSettings.defaults().withSlots(slots).withStopGrace(stopGrace);
        return defaultTimes ? node : node.withLease(Duration.ofSeconds(2)).withDeadAfter(Duration.ofMillis(1500));
    }

    TopicSettings topic() {
        return TopicSettings.defaults()
                .withShards(shards)
                .withVisibility(visibility)
                .withHandlerTimeout(handlerTimeout)
                .withRetry(RetryPolicy.fixed(RETRY_DELAY, ATTEMPTS - 1));
    }

    /** How long the work of a node that crashed may wait: what the product promises for its times, lease + 2 s. */
    Duration takeover() {
        return node().lease().plusSeconds(2);
    }

    /** From the first schedule call to the last due time. */
    Duration lasts() {
        return schedule.plus(ahead);
    }

    /** Writes them into a directory. */
    void write(Path directory) throws IOException {
        MAPPER.writeValue(directory.resolve(FILE).toFile(), this);
    }

    /** Reads what {@link #write} wrote. */
    static RunSettings read(Path directory) throws IOException {
        return MAPPER.readValue(directory.resolve(FILE).toFile(), RunSettings.class);
    }
}
