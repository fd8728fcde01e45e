package io.minutehand.worker.reconcile;

import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.NewJob;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.JobAccess;
import io.minutehand.core.write.JobWriter;
import io.minutehand.core.write.TopicRegistry;
import io.minutehand.core.write.WriteResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts the jobs of a page back, or only looks for them, in batches. Before each batch it looks whether the lease is held and the rows are fresh: a job
 * that ends leaves a tombstone for the topic's retention, so a row that was read before that must be written within it, or the job would come to
 * life again. Used by one thread.
 */
final class PageWriter {
    /** The longest that rows count as fresh; half of the default retention of tombstones. */
    static final Duration FRESH = Duration.ofSeconds(30);

    private static final long STOP_CHECK_MS = 100;

    private final String topic;
    private final TopicRegistry topics;
    private final JobWriter writer;
    private final JobAccess access;
    private final boolean dryRun;
    private final PassLease lease;
    private final BooleanSupplier stopping;

    PageWriter(
            StoreConnection connection,
            Executor executor,
            String topic,
            @Nullable TopicSettings declared,
            boolean dryRun,
            PassLease lease,
            BooleanSupplier stopping) {
        this.topic = topic;
        this.topics = new TopicRegistry(
                connection.cluster(executor), declared == null ? Map.of() : Map.of(topic, declared), true);
        this.writer = new JobWriter(connection.jobs(executor), topics, executor);
        this.access = new JobAccess(connection.jobs(executor), topics);
        this.dryRun = dryRun;
        this.lease = lease;
        this.stopping = stopping;
    }

    /**
     * Writes or looks for jobs.
     *
     * @param readNs nanoTime before their rows were read
     * @param found told after each batch
     * @throws HaltedException when the lease is not held any more, or the reconciler stops
     * @throws NotStoredException when Redis does not take a job, or the rows are not fresh any more
     * @throws StoreException when Redis refuses for good
     */
    void write(List<NewJob> jobs, long readNs, Consumer<Counts> found) {
        if (jobs.isEmpty()) {
            return;
        }
        StoredTopic stored = await(topics.ensure(topic, lease.validUntilNs()));
        Duration retention = stored.settings().retention();
        Duration half = retention.dividedBy(2);
        long freshNs = (retention.isZero() || half.compareTo(FRESH) > 0 ? FRESH : half).toNanos();
        int from = 0;
        while (from < jobs.size()) {
            int to = from;
            long bytes = 0;
            while (to < jobs.size()
                    && to - from < Limits.BATCH_JOBS
                    && (to == from || bytes + jobs.get(to).body().length <= Limits.BATCH_BYTES)) {
                bytes += jobs.get(to++).body().length;
            }
            long ageNs = System.nanoTime() - readNs;
            if (ageNs > freshNs) {
                throw new NotStoredException("the rows of a page were read " + TimeUnit.NANOSECONDS.toMillis(ageNs)
                        + " ms ago, older than " + TimeUnit.NANOSECONDS.toMillis(freshNs)
                        + " ms may be out of date; lower pageSize, or raise the retention of topic " + topic);
            }
            List<NewJob> batch = jobs.subList(from, to);
            long deadlineNs = earlier(lease.validUntilNs(), readNs + freshNs);
            found.accept(dryRun ? look(stored, batch, deadlineNs) : put(stored, batch, deadlineNs));
            from = to;
        }
    }

    private static long earlier(long oneNs, long otherNs) {
        return oneNs - otherNs < 0 ? oneNs : otherNs;
    }

    private Counts put(StoredTopic stored, List<NewJob> batch, long deadlineNs) {
        requireLease();
        List<WriteResult> results = await(writer.write(stored, batch, deadlineNs));
        Tally tally = new Tally();
        NotStoredException failure = null;
        for (int i = 0; i < results.size(); i++) {
            WriteResult result = results.get(i);
            switch (result.status()) {
                case CREATED -> tally.missing(batch.get(i).id());
                case EXISTS, CONFLICT -> tally.present(result.state());
                default ->
                    failure = new NotStoredException(
                            "job " + batch.get(i).id() + " of topic " + topic + " was answered " + result.status());
            }
        }
        if (failure != null) {
            requireLease();
            throw failure;
        }
        return tally.counts();
    }

    private Counts look(StoredTopic stored, List<NewJob> batch, long deadlineNs) {
        requireLease();
        List<CompletableFuture<Optional<JobStatus>>> answers = new ArrayList<>(batch.size());
        batch.forEach(job -> answers.add(access.find(stored, job.id(), deadlineNs)));
        Tally tally = new Tally();
        for (int i = 0; i < batch.size(); i++) {
            Optional<JobStatus> status = await(answers.get(i));
            if (status.isPresent()) {
                tally.present(status.get().state());
            } else {
                tally.missing(batch.get(i).id());
            }
        }
        return tally.counts();
    }

    private void requireLease() {
        if (!lease.held()) {
            throw new HaltedException(HaltedException.Reason.LEASE_LOST);
        }
    }

    /** Waits for an answer, or until the reconciler stops: calls repeat themselves until their deadline. */
    <T> T await(CompletableFuture<T> answer) {
        while (true) {
            try {
                return answer.get(STOP_CHECK_MS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException later) {
                if (stopping.getAsBoolean()) {
                    throw new HaltedException(HaltedException.Reason.STOPPING);
                }
            } catch (InterruptedException told) {
                // The reconciler alone interrupts its thread, and only when it stops; what a mapping left behind is no
                // order.
                if (stopping.getAsBoolean()) {
                    throw new HaltedException(HaltedException.Reason.STOPPING);
                }
            } catch (ExecutionException failure) {
                throw StoreException.of(failure);
            }
        }
    }

    /** Counts of a batch. */
    private static final class Tally {
        private final List<String> missingIds = new ArrayList<>();
        private long missing;
        private long present;
        private long dead;
        private long ended;

        void missing(String id) {
            missing++;
            if (missingIds.size() < Counts.FIRST) {
                missingIds.add(id);
            }
        }

        void present(@Nullable JobState state) {
            present++;
            if (state == JobState.DEAD) {
                dead++;
            } else if (state == JobState.DONE || state == JobState.CANCELLED) {
                ended++;
            }
        }

        Counts counts() {
            return new Counts(0, 0, missing, missingIds, present, dead, ended, 0, 0, List.of());
        }
    }
}
