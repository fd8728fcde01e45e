package io.minutehand.core.admin;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobId;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.AdminStore;
import io.minutehand.core.store.AdminStore.Death;
import io.minutehand.core.store.AdminStore.Letter;
import io.minutehand.core.store.JobRecord;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The dead letters of a topic: which there are and why, another life for them, or their end. Calls block; they go through the shards in order and
 * through each by the time of death, a page in memory at a time. What dies after a call began is not its matter, so a job that is
 * redriven and dies again is not redriven for ever. Thread-safe.
 */
public final class DeadLetters {
    private final AdminStore store;
    private final JobStore jobs;
    private final StoredTopic topic;
    private final Duration patience;

    DeadLetters(AdminStore store, JobStore jobs, StoredTopic topic, Duration patience) {
        this.store = store;
        this.jobs = jobs;
        this.topic = topic;
        this.patience = patience;
    }

    /**
     * A dead letter.
     *
     * @param shard where
     * @param id the job's id
     * @param diedAt when it died
     * @param letter what else is known without its body
     */
    public record DeadLetter(ShardId shard, String id, Instant diedAt, Letter letter) {}

    /**
     * Which dead letters a call is about: those that fulfil both, if both are given.
     *
     * @param id of a job, or null
     * @param reason text that the reason must contain, or null; a letter that cannot be read has none
     */
    public record Selector(@Nullable String id, @Nullable String reason) {
        /** All of them. */
        public static Selector all() {
            return new Selector(null, null);
        }

        /** The one of this job. */
        public static Selector ofId(String id) {
            return new Selector(JobId.require(id), null);
        }

        /** Those whose reason contains a text. */
        public static Selector ofReason(String text) {
            return new Selector(null, text);
        }

        private boolean selects(Letter letter) {
            return reason == null || letter.reason().contains(reason);
        }
    }

    /** Takes dead letters. */
    public interface Taker {
        /** Answers whether it wants the next. */
        boolean take(DeadLetter letter);
    }

    /**
     * What became of the letters that a call was about.
     *
     * @param done those that were redriven, or purged
     * @param missed those that were no dead letters any more when their turn came, cannot be read, or whose reply was lost and which may have been done
     * @param complete whether all had their turn in time
     */
    public record Result(long done, long missed, boolean complete) {}

    /** Passes dead letters on until the taker has enough. */
    public void forEach(Selector selector, Taker taker) {
        String id = selector.id();
        if (id != null) {
            find(id).filter(letter -> selector.selects(letter.letter())).ifPresent(taker::take);
            return;
        }
        boolean more = true;
        for (ShardId shard : topic.shards()) {
            more = more && Audit.waiting(() -> forEach(shard, selector, taker));
        }
    }

    private boolean forEach(ShardId shard, Selector selector, Taker taker) {
        long fromMs = 0;
        int skip = 0;
        Long untilMs = null;
        while (true) {
            List<Death> page = store.deaths(shard, fromMs, skip, deadlineNs()).join();
            if (untilMs == null) {
                untilMs = jobs.clock(shard).nowMs();
            }
            for (int at = 0; at < page.size(); ) {
                List<Death> some = page.subList(at, page.size());
                List<Letter> letters = store.letters(
                                shard, some.stream().map(Death::member).toList(), deadlineNs())
                        .join();
                for (int i = 0; i < letters.size(); i++) {
                    Death death = some.get(i);
                    Letter letter = letters.get(i);
                    if (death.diedAtMs() > untilMs) {
                        return true;
                    }
                    // Dead letters that went meanwhile are nobody's; those that died again come later in the order.
                    if (letter.diedAtMs() == death.diedAtMs()
                            && selector.selects(letter)
                            && !taker.take(letterOf(shard, death, letter))) {
                        return false;
                    }
                }
                at += letters.size();
            }
            if (page.size() < AdminStore.BATCH) {
                return true;
            }
            // The next page begins behind those of the last millisecond that are still there.
            long lastMs = page.get(page.size() - 1).diedAtMs();
            skip = left(shard, page, lastMs) + (lastMs == fromMs ? skip : 0);
            fromMs = lastMs;
        }
    }

    private int left(ShardId shard, List<Death> page, long atMs) {
        List<String> members = page.stream()
                .filter(death -> death.diedAtMs() == atMs)
                .map(Death::member)
                .toList();
        int left = 0;
        for (int at = 0; at < members.size(); ) {
            List<Letter> letters = store.letters(shard, members.subList(at, members.size()), deadlineNs())
                    .join();
            left += (int)
                    letters.stream().filter(letter -> letter.diedAtMs() == atMs).count();
            at += letters.size();
        }
        return left;
    }

    private static DeadLetter letterOf(ShardId shard, Death death, Letter letter) {
        return new DeadLetter(shard, ShardMap.idOf(death.member()), Instant.ofEpochMilli(death.diedAtMs()), letter);
    }

    /** The dead letter of a job; nothing when it is not dead. */
    public Optional<DeadLetter> find(String id) {
        return Audit.waiting(() -> {
            String member = ShardMap.memberOf(JobId.require(id));
            for (ShardId shard : topic.homes(id)) {
                Letter letter = store.letters(shard, List.of(member), deadlineNs())
                        .join()
                        .get(0);
                if (letter.diedAtMs() >= 0) {
                    return Optional.of(letterOf(shard, new Death(member, letter.diedAtMs()), letter));
                }
            }
            return Optional.empty();
        });
    }

    /**
     * The job of a dead letter, body and all; nothing when it is not dead any more.
     *
     * @throws StoreException (REFUSED) when its record cannot be read
     */
    public Optional<Job> job(DeadLetter letter) {
        return Audit.waiting(() -> jobs.find(letter.shard(), letter.id(), deadlineNs())
                .join()
                .filter(status -> status.state() == JobState.DEAD)
                .map(JobStatus::job));
    }

    /** How many there are. */
    public long count(Selector selector) {
        long[] count = new long[1];
        forEach(selector, letter -> {
            count[0]++;
            return true;
        });
        return count[0];
    }

    /**
     * Gives dead letters another life: first attempt, due now, same id, same payload.
     *
     * @param perSecond letters a second at most, more than 0
     * @param within how long it may take in all
     */
    public Result redrive(Selector selector, double perSecond, Duration within) {
        return act(selector, perSecond, within, letter -> redrive(letter, new byte[0]));
    }

    /**
     * Gives a dead letter another life with another payload. Business id and headers stay, and so does what tells the same request from another:
     * scheduling the job again as it was first scheduled answers EXISTS.
     *
     * @return whether it was done: the job is still dead as {@code letter} tells, and its record can be read
     * @throws IllegalArgumentException when the payload is larger than any router would accept
     */
    public boolean redriveEdited(DeadLetter letter, byte[] payload) {
        if (payload.length > Limits.PAYLOAD_BYTES_CEILING) {
            throw new IllegalArgumentException("payload of job=" + letter.id() + " has " + payload.length
                    + " bytes, allowed are at most " + Limits.PAYLOAD_BYTES_CEILING);
        }
        if (!letter.letter().readable()) {
            return false;
        }
        return Audit.waiting(() -> job(letter)
                .map(job -> redrive(letter, JobRecord.encodeBody(job.businessId(), job.headers(), payload)))
                .orElse(false));
    }

    private boolean redrive(DeadLetter letter, byte[] body) {
        long nowMs = jobs.clock(letter.shard()).nowMs();
        return jobs.redrive(letter.shard(), letter.id(), letter.diedAt().toEpochMilli(), nowMs, body, deadlineNs())
                .join();
    }

    /**
     * Forgets dead letters for good.
     *
     * @param perSecond letters a second at most, more than 0
     * @param within how long it may take in all
     */
    public Result purge(Selector selector, double perSecond, Duration within) {
        return act(
                selector,
                perSecond,
                within,
                letter -> jobs.purge(
                                letter.shard(), letter.id(), letter.diedAt().toEpochMilli(), deadlineNs())
                        .join());
    }

    private interface Act {
        boolean on(DeadLetter letter);
    }

    private Result act(Selector selector, double perSecond, Duration within, Act act) {
        if (!(perSecond > 0)) {
            throw new IllegalArgumentException("rate=" + perSecond + " a second, needed is more than 0");
        }
        long startNs = System.nanoTime();
        long endNs = startNs + within.toNanos();
        double everyNs = TimeUnit.SECONDS.toNanos(1) / perSecond;
        Tally tally = new Tally();
        forEach(selector, letter -> {
            long turnNs = startNs + (long) ((tally.done + tally.missed) * everyNs);
            if (turnNs - endNs > 0 || !sleepUntil(turnNs) || System.nanoTime() - endNs > 0) {
                tally.complete = false;
                return false;
            }
            if (act.on(letter)) {
                tally.done++;
            } else {
                tally.missed++;
            }
            return true;
        });
        return new Result(tally.done, tally.missed, tally.complete);
    }

    private static boolean sleepUntil(long atNs) {
        long leftNs = atNs - System.nanoTime();
        while (leftNs > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(leftNs);
            leftNs = atNs - System.nanoTime();
        }
        return leftNs <= 0;
    }

    private static final class Tally {
        long done;
        long missed;
        boolean complete = true;
    }

    private long deadlineNs() {
        return System.nanoTime() + patience.toNanos();
    }
}
