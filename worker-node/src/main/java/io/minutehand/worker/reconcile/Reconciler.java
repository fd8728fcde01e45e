package io.minutehand.worker.reconcile;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.ConnectionChoice;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.ReconcileStore;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.topic.TopicSettings;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs Redis from the database: goes through the rows that should have a job, and schedules those that are missing, under the very ids that the
 * application gives them. When Redis has lost everything, the next pass puts all jobs back; before they are due, if the look-ahead is long enough.
 *
 * <p>It only ever adds. A job that waits, runs, is a dead letter or ended less than the topic's retention ago stays as it is, so live traffic and
 * other reconcilers of the same rows do no harm. A row that still qualifies when the tombstone of its job has gone gets a job again: the query says what
 * is open. (A topic with a retention of 0 has no tombstones: there a job may run once more that ended while its row was looked at.)
 *
 * <p>Any number of processes may start the same reconciliation: one at a time goes through the rows, by a lease in Redis, and another goes on behind
 * the last whole page when it dies. If the database or Redis fails it says so once, tries on, and says when it goes on.
 *
 * <p>The database is used by a thread of its own, on one connection at a time, which is lent for a page and read-only. Mapping and listener run on
 * that thread, too. Thread-safe.
 */
public final class Reconciler implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reconciler.class);
    private static final Pattern NAME = Pattern.compile("[a-z0-9._-]{1,64}");

    /** A lease is renewed while its holder shows signs of life, also between passes. */
    private static final long LONGEST_PAUSE_NS = TimeUnit.SECONDS.toNanos(20);

    private static final long STOP_MS = 5000;

    private final String name;
    private final StoreConnection connection;
    private final boolean ownsConnection;
    private final ScheduledThreadPoolExecutor background;
    private final PassLease lease;
    private final PageReader reader;
    private final PassLoop loop;
    private final @Nullable PassListener listener;
    private final Thread thread;
    private final Semaphore wake = new Semaphore(0);
    private volatile boolean stopping;
    private volatile @Nullable PassReport lastPass;

    private Reconciler(Builder builder, StoreConnection connection) {
        this.name = builder.require(builder.name, "name");
        String topic = builder.require(builder.topic, "topic");
        RowQuery query = builder.require(builder.query, "query");
        this.connection = connection;
        this.ownsConnection = builder.connection.isOurs();
        this.listener = builder.listener;
        this.background = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "minutehand-reconcile-" + name + "-calls");
            made.setDaemon(true);
            return made;
        });
        background.setRemoveOnCancelPolicy(true);
        ReconcilerSettings settings = builder.settings;
        // A dry run must not keep a real one from its lease, nor move its place.
        String storedName = settings.dryRun() ? name + "+dry" : name;
        ReconcileStore store = connection.reconciles(background);
        NodeId node = NodeId.next(connection.clientId());
        this.lease = new PassLease(
                store, storedName, node, settings.lease(), background, wake::release, PassLease.SILENCE_NS);
        this.reader = new PageReader(builder.require(builder.database, "dataSource"), query, settings);
        PageWriter writer = new PageWriter(
                connection, background, topic, builder.declared, settings.dryRun(), lease, this::isStopping);
        this.loop = new PassLoop(
                name,
                topic,
                settings,
                query,
                builder.require(builder.mapping, "job"),
                new PassLoop.Parts(
                        store,
                        storedName,
                        node,
                        lease,
                        reader,
                        writer,
                        new JobForm(builder.objectMapper),
                        builder.telemetry),
                this::passed,
                this::isStopping);
        this.thread = new Thread(this::run, "minutehand-reconcile-" + name);
    }

    /** A builder for a reconciler on the Redis of this URI; see {@link RedisOptions}. */
    public static Builder connect(String uri) {
        return new Builder().redis(uri);
    }

    /** A builder for a reconciler; say where Redis is. */
    public static Builder builder() {
        return new Builder();
    }

    public String name() {
        return name;
    }

    /** Whether this process is the one that goes through the rows now, or waits for the next pass. */
    public boolean leading() {
        return lease.held();
    }

    /** The last pass that this process completed. */
    public Optional<PassReport> lastPass() {
        return Optional.ofNullable(lastPass);
    }

    private boolean isStopping() {
        return stopping;
    }

    private void run() {
        try {
            while (!stopping) {
                long pauseNs = Math.min(loop.step(), LONGEST_PAUSE_NS);
                if (pauseNs > 0) {
                    pause(pauseNs);
                }
            }
        } finally {
            lease.release();
        }
    }

    private void pause(long pauseNs) {
        try {
            if (wake.tryAcquire(pauseNs, TimeUnit.NANOSECONDS)) {
                wake.drainPermits();
            }
        } catch (InterruptedException told) {
            // The loop looks whether it is to stop; what a mapping left behind is no order.
            log.debug("reconcile: a pause was interrupted name={}", name);
        }
    }

    private void passed(PassReport report) {
        lastPass = report;
        if (listener != null) {
            try {
                listener.passed(report);
            } catch (Exception | LinkageError | StackOverflowError | AssertionError failure) {
                // Exception: other languages than Java throw checked ones anywhere.
                log.error("reconcile: the listener failed name={} cause=\"{}\"", name, OneLine.of(failure), failure);
            }
        }
    }

    /**
     * Stops: gives up the page under way, which is done again by whoever goes on, and gives the lease back. Returns when that is done, within some 10 s
     * even if the database hangs. In a mapping or listener it only begins that. Calling it again waits, too.
     */
    @Override
    public void close() {
        stopping = true;
        wake.release();
        if (Thread.currentThread() == thread) {
            new Thread(this::close, "minutehand-reconcile-" + name + "-stop").start();
            return;
        }
        // On a thread of its own: drivers connect anew to cancel, which takes as long as they like when the database
        // hangs.
        Thread canceller = new Thread(reader::cancel, "minutehand-reconcile-" + name + "-cancel");
        canceller.setDaemon(true);
        canceller.start();
        try {
            thread.join(STOP_MS);
            if (thread.isAlive()) {
                thread.interrupt();
                thread.join(STOP_MS);
            }
            if (thread.isAlive()) {
                log.warn("reconcile: the database or a mapping does not come back name={}, leaving it behind", name);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        background.shutdown();
        if (ownsConnection) {
            connection.close();
        }
    }

    /** Collects what a reconciler needs. Name, Redis, data source, topic, query and job are required. Not thread-safe. */
    public static final class Builder {
        private @Nullable String name;
        private final ConnectionChoice connection = new ConnectionChoice();
        private @Nullable DataSource database;
        private @Nullable String topic;
        private @Nullable TopicSettings declared;
        private @Nullable RowQuery query;
        private @Nullable RowMapping mapping;
        private @Nullable PassListener listener;
        private @Nullable ObjectMapper objectMapper;
        private ReconcilerSettings settings = ReconcilerSettings.defaults();
        private Telemetry telemetry = Telemetry.NONE;

        private Builder() {}

        /**
         * The name of the reconciliation: processes that give the same one take turns, so it goes with one query, topic and mapping. Another
         * reconciliation of the same name would have no turn before all processes of the first one have ended.
         *
         * @throws IllegalArgumentException when it is not {@code [a-z0-9._-]{1,64}}
         */
        public Builder name(String value) {
            if (!NAME.matcher(value).matches()) {
                throw new IllegalArgumentException(
                        "name of a reconciliation is not " + NAME + ": \"" + OneLine.of(value) + "\"");
            }
            this.name = value;
            return this;
        }

        /**
         * Where Redis is.
         *
         * @throws IllegalArgumentException as {@link RedisOptions#of}
         */
        public Builder redis(String uri) {
            return redis(RedisOptions.of(uri));
        }

        /** Where Redis is, and how to log in. */
        public Builder redis(RedisOptions options) {
            connection.redis(options);
            return this;
        }

        /** A connection of the caller's, who closes it after the reconciler. */
        public Builder redis(StoreConnection own) {
            connection.connection(own);
            return this;
        }

        /** The prefix of all keys; {@code mh} unless set here or in the options. */
        public Builder namespace(String value) {
            connection.namespace(value);
            return this;
        }

        /** The database that is the ledger. */
        public Builder dataSource(DataSource value) {
            this.database = Objects.requireNonNull(value, "dataSource");
            return this;
        }

        /**
         * The topic of the jobs; created with the defaults when Redis has none such.
         *
         * @throws IllegalArgumentException when it is no name of a topic
         */
        public Builder topic(String value) {
            this.topic = TopicName.require(value);
            return this;
        }

        /**
         * The topic of the jobs, and its settings for when Redis has none such: those that the application declares.
         *
         * @throws IllegalArgumentException when it is no name of a topic
         */
        public Builder topic(String value, TopicSettings topicSettings) {
            this.declared = Objects.requireNonNull(topicSettings, "settings");
            return topic(value);
        }

        /** Which rows should have a job. */
        public Builder query(RowQuery value) {
            this.query = Objects.requireNonNull(value, "query");
            return this;
        }

        /** Makes the job of a row. */
        public Builder job(RowMapping value) {
            this.mapping = Objects.requireNonNull(value, "job");
            return this;
        }

        /** How often and how fast; {@link ReconcilerSettings#defaults} unless set. */
        public Builder settings(ReconcilerSettings value) {
            this.settings = Objects.requireNonNull(value, "settings");
            return this;
        }

        /** Told of each pass that this process completes. */
        public Builder onPass(PassListener value) {
            this.listener = Objects.requireNonNull(value, "listener");
            return this;
        }

        /** Where counts go; nowhere by default. */
        public Builder telemetry(Telemetry value) {
            this.telemetry = Objects.requireNonNull(value, "telemetry");
            return this;
        }

        /** Writes payloads instead of the built-in mapper; give the one that the router has. */
        public Builder objectMapper(ObjectMapper value) {
            this.objectMapper = Objects.requireNonNull(value, "objectMapper");
            return this;
        }

        /**
         * Connects to Redis and starts; returns without waiting for the lease or the database.
         *
         * @throws IllegalArgumentException when something required is missing
         * @throws io.minutehand.core.store.StoreException when Redis refuses or cannot be reached
         */
        public Reconciler start() {
            require(name, "name");
            require(database, "dataSource");
            require(topic, "topic");
            require(query, "query");
            require(mapping, "job");
            Reconciler reconciler = new Reconciler(this, connection.open("reconciler " + name));
            reconciler.thread.start();
            return reconciler;
        }

        private <T> T require(@Nullable T value, String what) {
            if (value == null) {
                throw new IllegalArgumentException("reconciler" + (name == null ? "" : " " + name) + " lacks its "
                        + what + "; call " + what + "(...)");
            }
            return value;
        }
    }
}
