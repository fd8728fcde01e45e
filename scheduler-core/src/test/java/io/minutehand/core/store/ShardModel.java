package io.minutehand.core.store;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.bucket.ShardMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What a shard must do, in plain Java over plain maps: the reference that random sequences of calls are compared with. Time is what
 * {@link #now} says; replies are texts, which {@link ModelOp} makes of the store's answers too.
 */
final class ShardModel {
    static final long VISIBILITY_MS = 30_000;
    static final long KEEP_MS = 60_000;
    static final long LEASE_MS = 60_000;
    static final int DEAD_LIMIT = 3;
    static final long DEAD_AGE_MS = 150_000;

    /** A live job: pending, in flight or dead. */
    static final class Entry {
        final String id;
        char state = 'P';
        int attempt = 1;
        int delivery;
        long minute;
        long due;
        long created;
        byte[] digest;
        byte[] body;
        String reason = "";
        String receipt;
        long since;

        Entry(String id) {
            this.id = id;
        }

        String member() {
            return ShardMap.memberOf(id);
        }
    }

    record Tombstone(char state, byte[] digest, long endsAt) {}

    record Lease(long node, int count, long endsAt) {}

    record LastCall(long seq, long fencedSeq, List<String> receipts, long endsAt) {
        static final LastCall NONE = new LastCall(0, 0, List.of(), 0);
    }

    /** What a bucket holds: of a job that waits there, or put there by hand. */
    record Waiting(String id, long minute, long due, boolean stray) {}

    long now = TestStore.START_MS;

    /** Whether somebody put entries into buckets, so that no longer all invariants hold. */
    boolean damaged;

    final Map<String, Entry> jobs = new TreeMap<>();
    final Map<String, Tombstone> ends = new TreeMap<>();
    final Map<Long, Lease> leases = new TreeMap<>();
    final Map<Long, LastCall> calls = new TreeMap<>();
    private final List<Waiting> strays = new ArrayList<>();
    private final Map<String, Long> counters = new TreeMap<>(Map.of("epoch", 1L));

    String schedule(List<NewJob> items) {
        List<String> answers = new ArrayList<>();
        Map<String, byte[]> firstDigest = new HashMap<>();
        Map<String, String> firstAnswer = new HashMap<>();
        for (NewJob item : items) {
            String answer;
            if (firstAnswer.containsKey(item.id())) {
                answer = firstAnswer.get(item.id());
                if (answer.startsWith("EXISTS") && !Arrays.equals(firstDigest.get(item.id()), item.digest())) {
                    answer = answer.replace("EXISTS", "CONFLICT");
                }
            } else {
                answer = schedule(item);
                boolean stored = answer.startsWith("CREATED") || answer.startsWith("REPLACED");
                firstAnswer.put(item.id(), stored ? "EXISTS P" : answer);
                firstDigest.put(item.id(), item.digest());
            }
            answers.add(answer);
        }
        return answers.toString();
    }

    private String schedule(NewJob item) {
        Entry old = jobs.get(item.id());
        Tombstone ended = ends.get(item.id());
        boolean used = old != null || ended != null;
        char state = old != null ? old.state : ended != null ? ended.state : '-';
        if (used && Arrays.equals(old != null ? old.digest : ended.digest, item.digest())) {
            return "EXISTS " + state;
        }
        if (used && !item.replace()) {
            return "CONFLICT " + state;
        }
        if (state == 'I') {
            return "RUNNING I";
        }
        if (state == 'P' && old.minute != item.fromMinute()) {
            return "ELSEWHERE " + old.minute;
        }
        if (state != 'P') {
            count("accepted", 1);
            count("pending", 1);
        }
        if (state == 'X') {
            count("purged", 1);
        }
        ends.remove(item.id());
        Entry job = new Entry(item.id());
        place(job, item.dueMs());
        job.created = now;
        job.digest = item.digest();
        job.body = item.body();
        jobs.put(item.id(), job);
        return used ? "REPLACED " + state : "CREATED -";
    }

    String pop(long node, long minute, long seq, int limit) {
        LastCall last = calls.getOrDefault(node, LastCall.NONE);
        if (seq < last.seq || seq < last.fencedSeq) {
            return "OLD";
        }
        if (seq == last.seq) {
            return "OK next=" + firstDue(minute) + shown(last.receipts);
        }
        if (seq == last.fencedSeq) {
            return "FENCED";
        }
        if (!holds(node, minute)) {
            calls.put(node, new LastCall(last.seq, seq, last.receipts, now + KEEP_MS));
            return "FENCED";
        }
        List<Waiting> due = waiting().stream()
                .filter(entry -> entry.minute == minute && entry.due <= now)
                .sorted(Comparator.comparingLong(Waiting::due).thenComparing(entry -> ShardMap.memberOf(entry.id)))
                .limit(limit)
                .toList();
        List<Entry> some = due.stream()
                .filter(entry -> !entry.stray)
                .map(entry -> jobs.get(entry.id))
                .toList();
        due.stream().filter(Waiting::stray).forEach(this::drop);
        List<String> receipts = handOut(some, node, seq);
        count("pending", -receipts.size());
        return "OK next=" + firstDue(minute) + shown(receipts);
    }

    String recover(long node, long seq, int limit, String from) {
        LastCall last = calls.getOrDefault(node, LastCall.NONE);
        if (seq < last.seq || seq <= last.fencedSeq) {
            return "OLD";
        }
        if (seq == last.seq) {
            return "OK next=1" + shown(last.receipts);
        }
        List<Entry> stranded = sorted(
                job -> job.state == 'I'
                        && (from.isEmpty() ? job.since <= now : job.receipt.matches("\\d+:" + from + "\\..*")),
                job -> job.since,
                job -> job.receipt);
        boolean more = from.isEmpty() ? stranded.size() >= limit : stranded.size() > limit;
        List<String> receipts = handOut(stranded.subList(0, Math.min(limit, stranded.size())), node, seq);
        count("recovered", receipts.size());
        return "OK next=" + (more ? 1 : 0) + shown(receipts);
    }

    /** An entry by hand: it never counted as pending. Without a record nobody can tell, so it counts as a lost job's. */
    private void drop(Waiting stray) {
        strays.remove(stray);
        if (jobs.containsKey(stray.id)) {
            count("mended", 1);
        } else {
            count("pending", -1);
            count("orphans", 1);
        }
    }

    private List<String> handOut(List<Entry> some, long node, long seq) {
        List<String> receipts = new ArrayList<>();
        for (Entry job : some) {
            job.state = 'I';
            job.delivery++;
            job.since = now + VISIBILITY_MS;
            job.receipt = new Receipt(job.delivery, Long.toString(node), seq, job.member()).toString();
            receipts.add(job.receipt);
        }
        calls.put(node, new LastCall(seq, calls.getOrDefault(node, LastCall.NONE).fencedSeq, receipts, now + KEEP_MS));
        return receipts;
    }

    private String shown(List<String> receipts) {
        StringBuilder shown = new StringBuilder();
        for (String receipt : receipts) {
            Entry job = inFlight(receipt);
            if (job != null) {
                shown.append(' ')
                        .append(receipt)
                        .append('#')
                        .append(job.attempt)
                        .append('@')
                        .append(job.due);
            }
        }
        return shown.toString();
    }

    String ack(List<String> receipts, long retentionMs) {
        List<Boolean> good =
                receipts.stream().map(receipt -> inFlight(receipt) != null).toList();
        for (String receipt : receipts) {
            Entry job = inFlight(receipt);
            if (job != null) {
                end(job, 'D', retentionMs);
                count("done", 1);
            }
        }
        return good.toString();
    }

    String extend(List<String> receipts) {
        List<Boolean> good =
                receipts.stream().map(receipt -> inFlight(receipt) != null).toList();
        jobs.values().stream()
                .filter(job -> job.state == 'I' && receipts.contains(job.receipt))
                .forEach(job -> job.since = now + VISIBILITY_MS);
        return good.toString();
    }

    String retry(String receipt, long due, boolean counted, String reason) {
        Entry job = inFlight(receipt);
        if (job == null) {
            return "false";
        }
        job.attempt += counted ? 1 : 0;
        job.delivery = counted ? 0 : job.delivery - 1;
        job.reason = reason.isEmpty() ? job.reason : reason;
        await(job, due);
        count(counted ? "retried" : "nacked", 1);
        return "true";
    }

    String bury(String receipt, String reason) {
        Entry job = inFlight(receipt);
        if (job == null) {
            return "Optional.empty";
        }
        List<Entry> dead = sorted(other -> other.state == 'X', other -> other.since, Entry::member);
        List<Entry> dropped = new ArrayList<>();
        for (Entry old : dead) {
            if (dropped.size() < dead.size() + 1 - DEAD_LIMIT || old.since <= now - DEAD_AGE_MS) {
                dropped.add(old);
            }
        }
        dropped.forEach(old -> jobs.remove(old.id));
        job.state = 'X';
        job.since = now;
        job.reason = reason;
        job.receipt = null;
        count("buried", 1);
        count("purged", dropped.size());
        count("overflow", dropped.size());
        return "Optional[" + dropped.size() + "]";
    }

    String cancel(String id, long retentionMs) {
        Entry job = jobs.get(id);
        if (job == null) {
            Tombstone ended = ends.get(id);
            return ended == null ? "NOT_FOUND null" : ended.state == 'C' ? "CANCELLED null" : "ENDED DONE";
        }
        if (job.state != 'P') {
            return job.state == 'I' ? "RUNNING null" : "ENDED DEAD";
        }
        end(job, 'C', retentionMs);
        count("pending", -1);
        count("cancelled", 1);
        return "CANCELLED null";
    }

    String reschedule(String id, long due) {
        Entry job = jobs.get(id);
        if (job == null) {
            Tombstone ended = ends.get(id);
            return ended == null ? "NOT_FOUND null" : ended.state == 'C' ? "ENDED CANCELLED" : "ENDED DONE";
        }
        if (job.state != 'P') {
            return job.state == 'I' ? "RUNNING null" : "ENDED DEAD";
        }
        place(job, due);
        return "MOVED null";
    }

    String redrive(String id, long diedAt, long due) {
        Entry job = jobs.get(id);
        if (job == null || job.state != 'X' || job.since != diedAt) {
            return "false";
        }
        job.attempt = 1;
        job.delivery = 0;
        job.reason = "";
        await(job, due);
        count("redriven", 1);
        return "true";
    }

    String purge(String id, long diedAt) {
        Entry job = jobs.get(id);
        if (job == null || job.state != 'X' || job.since != diedAt) {
            return "false";
        }
        jobs.remove(id);
        count("purged", 1);
        return "true";
    }

    String claim(long node, long minute, boolean byScript) {
        Lease held = leases.get(minute);
        if (held != null && held.node != node) {
            return "false";
        }
        leases.put(minute, new Lease(node, byScript || held == null ? 1 : held.count + 1, now + LEASE_MS));
        return "true";
    }

    String renew(long node, List<Long> minutes) {
        List<Boolean> held = minutes.stream().map(minute -> holds(node, minute)).toList();
        leases.replaceAll((minute, lease) ->
                lease.node == node && minutes.contains(minute) ? new Lease(node, lease.count, now + LEASE_MS) : lease);
        return held.toString();
    }

    /** A release by its holder, or a break by whoever found the holder dead. */
    String release(long node, List<Long> minutes) {
        List<Boolean> held = minutes.stream().map(minute -> holds(node, minute)).toList();
        leases.entrySet().removeIf(lease -> lease.getValue().node == node && minutes.contains(lease.getKey()));
        return held.toString();
    }

    String find(String id) {
        Entry job = jobs.get(id);
        if (job != null) {
            return job.state + " attempt=" + job.attempt + " delivery=" + job.delivery + " due=" + job.due + " reason="
                    + (job.reason.isEmpty() ? null : job.reason);
        }
        return ends.containsKey(id) ? "ended " + ends.get(id).state : "none";
    }

    String look(long until, long asked) {
        List<Long> minutes = minutes();
        long deadline = jobs.values().stream()
                .filter(job -> job.state == 'I')
                .mapToLong(job -> job.since)
                .min()
                .orElse(-1);
        return deadline + " "
                + jobs.values().stream().filter(job -> job.state == 'I').count() + " "
                + minutes.stream().filter(minute -> minute <= until).toList() + " "
                + minutes.stream().filter(minute -> minute > until).findFirst().orElse(-1L) + " " + firstDue(asked)
                + " "
                + leases.containsKey(asked);
    }

    /** Puts an entry into a bucket by hand; says whether it did, for the entry of a job that waits just there is none by hand. */
    boolean stray(String id, long minute, long due) {
        Entry job = jobs.get(id);
        if (job != null && job.state == 'P' && job.minute == minute) {
            return false;
        }
        strays.removeIf(entry -> entry.id.equals(id) && entry.minute == minute);
        strays.add(new Waiting(id, minute, due, true));
        damaged = true;
        return true;
    }

    /** What the ledger misses: nothing, but for entries by hand that were counted as those of lost jobs. */
    long audit() {
        return counters.getOrDefault("orphans", 0L);
    }

    /** What the server ends by itself at this time. */
    void expire() {
        ends.values().removeIf(end -> end.endsAt <= now);
        leases.values().removeIf(lease -> lease.endsAt <= now);
        calls.values().removeIf(call -> call.endsAt <= now);
    }

    private void await(Entry job, long due) {
        job.state = 'P';
        place(job, due);
        job.receipt = null;
        count("pending", 1);
    }

    private void place(Entry job, long due) {
        job.due = due;
        job.minute = Minutes.label(due, now);
        strays.removeIf(entry -> entry.id.equals(job.id) && entry.minute == job.minute);
    }

    private void end(Entry job, char state, long retentionMs) {
        jobs.remove(job.id);
        if (retentionMs > 0) {
            ends.put(job.id, new Tombstone(state, job.digest, now + retentionMs));
        }
    }

    private boolean holds(long node, long minute) {
        Lease lease = leases.get(minute);
        return lease != null && lease.node == node;
    }

    private Entry inFlight(String receipt) {
        return jobs.values().stream()
                .filter(job -> job.state == 'I' && job.receipt.equals(receipt))
                .findFirst()
                .orElse(null);
    }

    private long firstDue(long minute) {
        return waiting().stream()
                .filter(entry -> entry.minute == minute)
                .mapToLong(Waiting::due)
                .min()
                .orElse(-1);
    }

    private List<Long> minutes() {
        return waiting().stream().map(Waiting::minute).distinct().sorted().toList();
    }

    private List<Waiting> waiting() {
        List<Waiting> waiting = new ArrayList<>(strays);
        for (Entry job : jobs.values()) {
            if (job.state == 'P') {
                waiting.add(new Waiting(job.id, job.minute, job.due, false));
            }
        }
        return waiting;
    }

    private List<Entry> sorted(
            Predicate<Entry> which,
            java.util.function.ToLongFunction<Entry> score,
            java.util.function.Function<Entry, String> name) {
        return jobs.values().stream()
                .filter(which)
                .sorted(Comparator.comparingLong(score).thenComparing(name))
                .toList();
    }

    private void count(String counter, long by) {
        if (by != 0) {
            counters.merge(counter, by, Long::sum);
        }
    }

    /** What Redis must hold for all this. */
    ShardImage image() {
        ShardImage image = new ShardImage();
        for (Entry job : jobs.values()) {
            image.record(
                    job.id,
                    job.state,
                    job.attempt,
                    job.delivery,
                    job.minute,
                    job.due,
                    job.created,
                    job.digest,
                    job.reason.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    job.body);
            switch (job.state) {
                case 'P' -> {}
                case 'I' -> image.inflight(ShardImage.shownReceipt(job.receipt), job.since);
                default -> image.dead(job.id, job.since);
            }
        }
        waiting().forEach(entry -> image.bucket(entry.minute, entry.id, entry.due));
        minutes().forEach(minute -> image.index(minute, minute));
        ends.forEach((id, end) -> {
            image.end(id, end.state, end.digest);
            image.ttl("end:" + id, TestStore.RETENTION.toMillis());
        });
        leases.forEach((minute, lease) -> image.lease(minute, "C:" + lease.node, lease.count));
        calls.forEach((node, call) -> image.pops(
                Long.toString(node),
                call.seq,
                call.fencedSeq,
                call.receipts.stream().map(ShardImage::shownReceipt).toList()));
        counters.forEach(image::counter);
        return image;
    }
}
