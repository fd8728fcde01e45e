package io.minutehand.worker.reconcile;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What one pass over all rows found. Its numbers cover the whole pass, also where several nodes had a part in it; of a page in which a node was killed
 * they count what the next node saw, to whom jobs that were just put back are jobs that are there.
 *
 * @param name the reconciliation
 * @param pass its number, from 1
 * @param dryRun whether jobs that were missing were only counted
 * @param beganAt by the clock of Redis
 * @param took from then on, whoever worked on it
 * @param pages how many pages
 * @param rows how many rows
 * @param missing rows without a job: drift. Unless this was a dry run they have one now. A call whose answer was lost is repeated and may find its own
 *     jobs, which then count as present
 * @param missingIds the ids of the first few of those jobs
 * @param present rows whose id is taken: by a job that waits or runs, that is a dead letter, or ended less than the topic's retention ago
 * @param dead of these, how many are dead letters: nothing will be done about those rows
 * @param ended of these, how many have ended
 * @param skipped rows of which the mapping said that they need no job
 * @param refused rows of which no job could be made
 * @param refusals key and reason of the first few of those
 */
public record PassReport(
        String name,
        long pass,
        boolean dryRun,
        Instant beganAt,
        Duration took,
        long pages,
        long rows,
        long missing,
        List<String> missingIds,
        long present,
        long dead,
        long ended,
        long skipped,
        long refused,
        List<String> refusals) {
    /** Makes the lists the record's own. */
    public PassReport {
        missingIds = List.copyOf(missingIds);
        refusals = List.copyOf(refusals);
    }

    static PassReport of(String name, boolean dryRun, Progress progress, long nowUs) {
        Counts counts = progress.counts();
        return new PassReport(
                name,
                progress.pass(),
                dryRun,
                Instant.EPOCH.plus(Duration.ofNanos(progress.beganUs() * 1000)),
                Duration.ofNanos(Math.max(0, nowUs - progress.beganUs()) * 1000),
                counts.pages(),
                counts.rows(),
                counts.missing(),
                counts.missingIds(),
                counts.present(),
                counts.dead(),
                counts.ended(),
                counts.skipped(),
                counts.refused(),
                counts.refusals());
    }
}
