package io.minutehand.worker.reconcile;

import java.util.List;
import java.util.stream.Stream;

/** What was counted of some pages, as {@link PassReport} has it. Immutable. */
record Counts(
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
    /** How many ids and refusals are kept. */
    static final int FIRST = 5;

    static final Counts NONE = new Counts(0, 0, 0, List.of(), 0, 0, 0, 0, 0, List.of());

    Counts plus(Counts more) {
        return new Counts(
                pages + more.pages,
                rows + more.rows,
                missing + more.missing,
                first(missingIds, more.missingIds),
                present + more.present,
                dead + more.dead,
                ended + more.ended,
                skipped + more.skipped,
                refused + more.refused,
                first(refusals, more.refusals));
    }

    /** Of a page that is done again, what it will not find again. */
    Counts missingOnly() {
        return new Counts(0, 0, missing, missingIds, 0, 0, 0, 0, 0, List.of());
    }

    /** What a page found that was done again, when these are the jobs that it had put back before and has met again: they were missing. */
    Counts asMissingAmong(Counts again) {
        return plus(again).withPresent(Math.max(0, again.present - missing));
    }

    private Counts withPresent(long number) {
        return new Counts(pages, rows, missing, missingIds, number, dead, ended, skipped, refused, refusals);
    }

    private static List<String> first(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).limit(FIRST).toList();
    }
}
