package io.minutehand.worker.reconcile;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.store.ReconcileStore;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.worker.reconcile.PageReader.Page;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The work of a reconciliation, step by step: take the lease, find out where the last page ended, do one page, say so, and so on; wait for the next
 * pass when the last page is done. Where a pass has come is written after each whole page, under the lease, so whoever holds the lease next goes on
 * behind the last whole page: none is left out, and one may be done twice, which is harmless, for each job is stored under its id once. Redis that
 * lost everything has lost the lease and the place, too: then a pass begins at once.
 *
 * <p>Used by one thread.
 */
final class PassLoop {
    private static final Logger log = LoggerFactory.getLogger(Reconciler.class);

    /** How long a place is kept that nobody writes any more. */
    private static final Duration STATE_TTL = Duration.ofDays(30);

    private static final long US_NS = 1000;

    private final String name;
    private final String topic;
    private final ReconcilerSettings settings;
    private final RowQuery query;
    private final RowMapping mapping;
    private final String fingerprint;
    private final ReconcileStore store;
    private final String storedName;
    private final NodeId node;
    private final PassLease lease;
    private final PageReader reader;
    private final PageWriter writer;
    private final JobForm form;
    private final Telemetry telemetry;
    private final Consumer<PassReport> reports;
    private final BooleanSupplier stopping;
    private final Troubles redis;
    private final Troubles database;
    private final Troubles defects;

    /** Of the pass that goes on; null when Redis is to be asked. */
    private @Nullable Progress progress;

    /** Of the page under way. */
    private Counts found = Counts.NONE;

    /** Jobs that were put back by this page before it had to be done again: now they are there. */
    private Counts putBefore = Counts.NONE;

    private long serverUs;
    private long serverAtNs;

    /** What the loop works with; it owns none of it. */
    record Parts(
            ReconcileStore store,
            String storedName,
            NodeId node,
            PassLease lease,
            PageReader reader,
            PageWriter writer,
            JobForm form,
            Telemetry telemetry) {}

    PassLoop(
            String name,
            String topic,
            ReconcilerSettings settings,
            RowQuery query,
            RowMapping mapping,
            Parts parts,
            Consumer<PassReport> reports,
            BooleanSupplier stopping) {
        this.name = name;
        this.topic = topic;
        this.settings = settings;
        this.query = query;
        this.mapping = mapping;
        this.fingerprint = query.fingerprint();
        this.store = parts.store();
        this.storedName = parts.storedName();
        this.node = parts.node();
        this.lease = parts.lease();
        this.reader = parts.reader();
        this.writer = parts.writer();
        this.form = parts.form();
        this.telemetry = parts.telemetry();
        this.reports = reports;
        this.stopping = stopping;
        this.redis = new Troubles(name, "Redis does not do what it is asked", Level.WARN);
        this.database = new Troubles(name, "the database does not do what it is asked", Level.WARN);
        this.defects = new Troubles(name, "a pass cannot go on", Level.ERROR);
    }

    /**
     * Does one page, or what comes before it.
     *
     * @return how long to wait before the next step, ns; 0 or less when there is something to do
     */
    long step() {
        try {
            lease.alive();
            return turn();
        } catch (HaltedException halted) {
            if (halted.reason() == HaltedException.Reason.LEASE_LOST) {
                log.info("reconcile: the lease was lost name={}, nothing more is written", name);
                forget();
                lease.drop();
            }
            return 0;
        } catch (SQLException failure) {
            // Another node may reach the database.
            lease.release();
            return stopping.getAsBoolean() ? 0 : database.failed(failure);
        } catch (NotStoredException | StoreException failure) {
            return redis.failed(failure);
        } catch (CompletionException failure) {
            return redis.failed(StoreException.of(failure));
        } catch (Throwable defect) {
            // Whatever it is, also what Java does not let be thrown here: a repair that has ended unseen is worse than
            // one that tries on.
            lease.release();
            return defects.failed(defect);
        }
    }

    private long turn() throws SQLException {
        if (!lease.held()) {
            lease.drop();
            forget();
            if (!lease.claim()) {
                redis.worked();
                return settings.lease().toNanos() / 3;
            }
        }
        Progress present = progress;
        if (present == null) {
            ReconcileStore.Progress read = held(store.read(storedName, node, lease.validUntilNs()));
            Optional<Progress> stored = Progress.decode(read.state());
            long waitNs = stored.map(last -> untilNext(last, read.nowUs())).orElse(0L);
            if (waitNs > 0) {
                redis.worked();
                return waitNs;
            }
            present = next(stored, read.nowUs());
        }
        return page(present);
    }

    private void forget() {
        progress = null;
        putBefore = Counts.NONE;
    }

    /** How long to wait until the pass after this one. A beginning that has yet to come was told by a clock that was set back since: not at all. */
    private long untilNext(Progress last, long nowUs) {
        if (!last.complete() || !last.query().equals(fingerprint) || last.beganUs() > nowUs) {
            return 0;
        }
        return settings.period().toNanos() - (nowUs - last.beganUs()) * US_NS;
    }

    private Progress next(Optional<Progress> stored, long nowUs) {
        if (stored.isPresent()) {
            Progress last = stored.get();
            boolean goesOn = !last.complete() && last.query().equals(fingerprint) && query.canRead(last.cursor());
            if (goesOn) {
                log.info("reconcile: goes on name={} pass={} behind={}", name, last.pass(), shown(last.cursor()));
                return last;
            }
            return Progress.begin(fingerprint, last.pass() + 1, nowUs);
        }
        log.info("reconcile: begins name={} topic={} dry_run={}", name, topic, settings.dryRun());
        return Progress.begin(fingerprint, 1, nowUs);
    }

    private static String shown(@Nullable List<String> cursor) {
        return OneLine.of(String.valueOf(cursor));
    }

    private long page(Progress before) throws SQLException {
        long readNs = System.nanoTime();
        Instant until = Instant.EPOCH
                .plus(serverUs(), java.time.temporal.ChronoUnit.MICROS)
                .plus(settings.lookAhead());
        Gatherer gatherer = new Gatherer(serverUs());
        Page page = reader.read(before.cursor(), until, gatherer);
        database.worked();
        Progress after;
        ReconcileStore.Progress written;
        found = Counts.NONE;
        boolean whole = false;
        try {
            writer.write(gatherer.jobs, readNs, this::found);
            Counts counts = gatherer.counts(page.rows()).plus(putBefore.asMissingAmong(found));
            after = before.after(counts, page.last(), !page.more());
            written = held(store.write(storedName, node, after.encode(), STATE_TTL, lease.validUntilNs()));
            whole = true;
        } finally {
            if (!whole) {
                putBefore = putBefore.plus(found.missingOnly());
            }
        }
        putBefore = Counts.NONE;
        progress = after.complete() ? null : after;
        redis.worked();
        defects.worked();
        telemetry.count(Counter.RECONCILE_ROWS, topic, page.rows());
        telemetry.count(Counter.RECONCILE_REFUSED, topic, gatherer.refused);
        if (after.complete()) {
            report(PassReport.of(name, settings.dryRun(), after, written.nowUs()));
        }
        long paceNs = TimeUnit.SECONDS.toNanos(1) * page.rows() / settings.rowsPerSecond();
        return paceNs - (System.nanoTime() - readNs);
    }

    private void found(Counts batch) {
        found = found.plus(batch);
        telemetry.count(Counter.RECONCILE_MISSING, topic, batch.missing());
        lease.alive();
    }

    private ReconcileStore.Progress held(CompletableFuture<ReconcileStore.Progress> call) {
        ReconcileStore.Progress answer = writer.await(call);
        serverUs = answer.nowUs();
        serverAtNs = System.nanoTime();
        if (!answer.held()) {
            throw new HaltedException(HaltedException.Reason.LEASE_LOST);
        }
        return answer;
    }

    private long serverUs() {
        return serverUs + (System.nanoTime() - serverAtNs) / US_NS;
    }

    private void report(PassReport report) {
        if (report.missing() > 0) {
            log.warn(
                    "reconcile: drift, rows had no job{} name={} topic={} pass={} missing={} first={} rows={} present={} took_ms={}",
                    report.dryRun() ? " (dry run: nothing was put back)" : ", they were put back",
                    name,
                    topic,
                    report.pass(),
                    report.missing(),
                    report.missingIds(),
                    report.rows(),
                    report.present(),
                    report.took().toMillis());
        }
        if (report.refused() > 0) {
            log.warn(
                    "reconcile: no job could be made of some rows name={} topic={} pass={} refused={} first={}",
                    name,
                    topic,
                    report.pass(),
                    report.refused(),
                    report.refusals());
        }
        log.debug("reconcile: passed {}", report);
        reports.accept(report);
    }

    /** Makes the jobs of a page's rows. */
    private final class Gatherer implements PageReader.Taker {
        private final long nowUs;
        private final List<NewJob> jobs = new ArrayList<>();
        private final List<String> refusals = new ArrayList<>();
        private long skipped;
        private long refused;

        Gatherer(long nowUs) {
            this.nowUs = nowUs;
        }

        @Override
        public long take(Row row, String key) {
            if (stopping.getAsBoolean()) {
                throw new HaltedException(HaltedException.Reason.STOPPING);
            }
            try {
                JobSpec<?> spec = mapping.jobOf(row);
                if (spec == null) {
                    skipped++;
                    return 0;
                }
                NewJob job = form.of(spec, nowUs);
                jobs.add(job);
                return job.body().length;
            } catch (Exception | LinkageError | StackOverflowError | AssertionError failure) {
                refused++;
                if (refusals.size() < Counts.FIRST) {
                    refusals.add("key=" + OneLine.of(key) + " " + OneLine.of(failure));
                }
                return 0;
            }
        }

        Counts counts(int rows) {
            return new Counts(1, rows, 0, List.of(), 0, 0, 0, skipped, refused, refusals);
        }
    }
}
