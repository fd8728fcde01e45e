package io.minutehand.core.admin;

import io.minutehand.core.admin.Finding.Kind;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.JobState;
import io.minutehand.core.store.AuditStore;
import io.minutehand.core.store.AuditStore.Head;
import io.minutehand.core.store.AuditStore.Page;
import io.minutehand.core.store.AuditStore.Place;
import io.minutehand.core.store.LedgerState;
import io.minutehand.core.store.Verdict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One audit of all that a shard holds. From the records it goes to where they should be, from buckets, receipts and dead letters back to the
 * records, then it counts. Each piece is read first and then judged by a script that looks again: so what moves meanwhile is no
 * finding. What was found is mended, if wanted, by the same script, which judges once more.
 */
final class DeepAudit {
    /** Records of the first look into a hash: how large they are is not known yet. */
    private static final int FIRST_COUNT = 16;

    /** Bytes of records that one look should make the server read. */
    private static final long LOOK_BYTES = 512 * 1024;

    /** Buckets that are read at the same time: enough to hide the round trips, too few to be felt. */
    private static final int AT_ONCE = 8;

    /** Minutes of which is remembered that the index is right about them. */
    private static final int REMEMBERED = 100_000;

    private final AuditStore store;
    private final ShardId shard;
    private final boolean repair;
    private final long deadlineNs;
    private final Findings findings;
    private final Set<Long> listed = new HashSet<>();
    private final Set<Long> unlisted = new TreeSet<>();
    private long records;
    private long unreadable;
    private long unjudged;
    private boolean complete = true;

    DeepAudit(AuditStore store, ShardId shard, boolean repair, long deadlineNs) {
        this.store = store;
        this.shard = shard;
        this.repair = repair;
        this.deadlineNs = deadlineNs;
        this.findings = new Findings(shard);
    }

    ShardAudit run() {
        for (int hash = 0; hash < ShardMap.RECORD_HASHES; hash++) {
            checkRecords(hash);
        }
        checkBuckets();
        checkEntries(Place.inFlight(shard));
        checkEntries(Place.dead(shard));
        if (inTime()) {
            count();
        }
        LedgerState ledger = store.ledger(shard, deadlineNs).join();
        findings.addLedger(ledger);
        return new ShardAudit(
                shard, ledger, true, complete, records, unreadable, unjudged, findings.counts(), findings.first());
    }

    private void count() {
        PendingCount count = new PendingCount(store, shard, unlisted, repair, deadlineNs);
        switch (count.run()) {
            case AGREES -> {}
            case DIFFERS -> findings.add(Kind.PENDING_COUNTER, count.toString(), false);
            case REPAIRED -> findings.add(Kind.PENDING_COUNTER, count.toString(), true);
            case UNJUDGED -> unjudged++;
        }
    }

    private boolean inTime() {
        complete &= System.nanoTime() - deadlineNs < 0;
        return complete;
    }

    private void checkRecords(int hash) {
        String cursor = Page.START;
        int count = FIRST_COUNT;
        do {
            if (!inTime()) {
                return;
            }
            Page<Head> page =
                    store.heads(shard, hash, cursor, count, deadlineNs).join();
            List<Head> heads = new ArrayList<>();
            Set<Long> minutes = new TreeSet<>();
            for (Head head : page.items()) {
                if (!isMember(head.member()) || ShardMap.recordHashOf(head.member()) != hash) {
                    findings.add(Kind.MALFORMED, head.member(), false);
                } else if (head.state() == null) {
                    unreadable++;
                } else {
                    heads.add(head);
                    if (head.state() == JobState.PENDING && !listed.contains(head.minute())) {
                        minutes.add(head.minute());
                    }
                }
            }
            records += page.items().size();
            checkListing(List.copyOf(minutes));
            judge(
                    heads,
                    (some, mend) -> store.records(shard, some, mend, deadlineNs),
                    DeepAudit::kindOfRecord,
                    Head::id);
            cursor = page.cursor();
            long fitting = count * LOOK_BYTES / Math.max(1, page.bytes());
            count = (int) Math.max(1, Math.min(AuditStore.BATCH, Math.min(4L * count, fitting)));
        } while (!cursor.equals(Page.START));
    }

    private static @Nullable Kind kindOfRecord(Verdict verdict) {
        return switch (verdict) {
            case NO_ENTRY -> Kind.PENDING_WITHOUT_ENTRY;
            case WRONG_DUE -> Kind.WRONG_DUE;
            case NO_RECEIPT -> Kind.IN_FLIGHT_WITHOUT_RECEIPT;
            case NOT_LISTED -> Kind.DEAD_WITHOUT_ENTRY;
            default -> null;
        };
    }

    /** Checks whether the index is right about some minutes, and remembers those about which it is. */
    private void checkListing(List<Long> minutes) {
        List<Long> wrong = judge(
                minutes,
                (some, mend) -> store.listing(shard, some, mend, deadlineNs),
                verdict -> switch (verdict) {
                    case UNLISTED -> Kind.UNLISTED_BUCKET;
                    case EMPTY -> Kind.EMPTY_BUCKET;
                    default -> null;
                },
                minute -> "minute=" + minute);
        if (listed.size() > REMEMBERED) {
            listed.clear();
        }
        listed.addAll(minutes);
        if (!repair && unlisted.size() < AuditStore.BATCH) {
            unlisted.addAll(wrong);
        }
    }

    private void checkBuckets() {
        long from = 0;
        while (inTime()) {
            List<Long> minutes = store.minutes(shard, from, deadlineNs).join();
            checkListing(
                    minutes.stream().filter(minute -> !listed.contains(minute)).toList());
            for (int at = 0; at < minutes.size() && inTime(); at += AT_ONCE) {
                checkBuckets(minutes.subList(at, Math.min(minutes.size(), at + AT_ONCE)));
            }
            if (minutes.size() < AuditStore.BATCH) {
                break;
            }
            from = minutes.get(minutes.size() - 1) + 1;
        }
        for (long minute : unlisted) {
            checkEntries(Place.bucket(shard, minute));
        }
    }

    private void checkBuckets(List<Long> minutes) {
        List<CompletableFuture<Page<String>>> pages = minutes.stream()
                .map(minute -> store.scan(Place.bucket(shard, minute), Page.START, deadlineNs))
                .toList();
        for (int i = 0; i < pages.size(); i++) {
            checkEntries(Place.bucket(shard, minutes.get(i)), pages.get(i).join());
        }
    }

    private void checkEntries(Place place) {
        if (inTime()) {
            checkEntries(place, store.scan(place, Page.START, deadlineNs).join());
        }
    }

    private void checkEntries(Place place, Page<String> first) {
        Page<String> page = first;
        while (true) {
            List<String> entries = new ArrayList<>();
            for (String entry : page.items()) {
                if (isMember(memberOf(place, entry))) {
                    entries.add(entry);
                } else {
                    findings.add(Kind.MALFORMED, entry, false);
                }
            }
            judge(
                    entries,
                    (some, mend) -> store.entries(place, some, mend, deadlineNs),
                    verdict -> kindOfEntry(place, verdict),
                    entry -> ShardMap.idOf(memberOf(place, entry)));
            if (page.last() || !inTime()) {
                return;
            }
            page = store.scan(place, page.cursor(), deadlineNs).join();
        }
    }

    private static @Nullable Kind kindOfEntry(Place place, Verdict verdict) {
        boolean lost = verdict == Verdict.NO_RECORD;
        if (!lost && verdict != Verdict.STRAY) {
            return null;
        }
        return switch (place.state()) {
            case IN_FLIGHT -> lost ? Kind.RECEIPT_WITHOUT_RECORD : Kind.STRAY_RECEIPT;
            case DEAD -> lost ? Kind.DEAD_ENTRY_WITHOUT_RECORD : Kind.STRAY_DEAD_ENTRY;
            default -> lost ? Kind.ENTRY_WITHOUT_RECORD : Kind.STRAY_ENTRY;
        };
    }

    /** The member in an entry: itself, or what a receipt names; empty when it names nothing. */
    private static String memberOf(Place place, String entry) {
        if (place.state() != JobState.IN_FLIGHT) {
            return entry;
        }
        int node = entry.indexOf(':');
        int member = entry.indexOf(':', node + 1);
        boolean counted = node > 0 && entry.chars().limit(node).allMatch(c -> c >= '0' && c <= '9');
        return counted && member > node + 1 ? entry.substring(member + 1) : "";
    }

    private static boolean isMember(String text) {
        return text.length() > 1 && "0123456789abcdef".indexOf(text.charAt(0)) >= 0;
    }

    /**
     * Has things judged by a script, those that are amiss mended if wanted, and takes notes.
     *
     * @return those that were amiss
     */
    private <T> List<T> judge(
            List<T> things,
            BiFunction<List<T>, Boolean, CompletableFuture<List<Verdict>>> script,
            Function<Verdict, @Nullable Kind> kinds,
            Function<T, String> names) {
        List<T> amiss = new ArrayList<>();
        List<Kind> how = new ArrayList<>();
        inPieces(things, some -> script.apply(some, false), (thing, verdict) -> {
            Kind kind = kinds.apply(verdict);
            if (kind != null) {
                amiss.add(thing);
                how.add(kind);
            } else if (verdict == Verdict.UNJUDGED) {
                unjudged++;
            }
        });
        List<Boolean> repaired = new ArrayList<>();
        if (repair) {
            // Whatever is fine by now was mended by a call whose reply was lost.
            inPieces(
                    amiss,
                    some -> script.apply(some, true),
                    (thing, verdict) -> repaired.add(verdict != Verdict.NEWER && verdict != Verdict.UNJUDGED));
        }
        for (int i = 0; i < amiss.size(); i++) {
            findings.add(how.get(i), names.apply(amiss.get(i)), repair && repaired.get(i));
        }
        return amiss;
    }

    private interface Taker<T> {
        void take(T thing, Verdict verdict);
    }

    private static <T> void inPieces(
            List<T> things, Function<List<T>, CompletableFuture<List<Verdict>>> script, Taker<T> taker) {
        for (int at = 0; at < things.size(); ) {
            List<T> some = things.subList(at, Math.min(things.size(), at + AuditStore.BATCH));
            List<Verdict> verdicts = script.apply(some).join();
            for (int i = 0; i < verdicts.size(); i++) {
                taker.take(some.get(i), verdicts.get(i));
            }
            at += verdicts.size();
        }
    }
}
