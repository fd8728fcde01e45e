package io.minutehand.worker;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.LedgerState;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the ledgers of the shards that this node owns, each once in a period and one after the other, and tells when one does not add up: by a
 * measure per topic always, by a line only when that changes. Only the node's thread touches this.
 */
final class LedgerWatch {
    private static final Logger log = LoggerFactory.getLogger(LedgerWatch.class);

    private final Function<ShardId, CompletableFuture<LedgerState>> ledgers;
    private final Supplier<? extends Collection<ShardId>> owned;
    private final long everyNs;
    private final StoreCalls calls;
    private final Telemetry telemetry;
    private final DueTimer.Timer timer;

    /** What is left of this period. */
    private final Deque<ShardId> round = new ArrayDeque<>();

    private final Map<ShardId, LedgerState> seen = new LinkedHashMap<>();

    /** The differences that were told, by topic; those without one are absent. */
    private final Map<String, Long> told = new HashMap<>();

    private long stepNs;
    private boolean asking;

    LedgerWatch(
            Function<ShardId, CompletableFuture<LedgerState>> ledgers,
            Supplier<? extends Collection<ShardId>> owned,
            WorkerSettings settings,
            StoreCalls calls,
            Telemetry telemetry,
            DueTimer timer) {
        this.ledgers = ledgers;
        this.owned = owned;
        this.everyNs = settings.ledgerCheck().toNanos();
        this.stepNs = everyNs;
        this.calls = calls;
        this.telemetry = telemetry;
        this.timer = timer.timer(() -> runOnce(timer.nowNs()));
    }

    void start(long nowNs) {
        timer.setAt(nowNs + everyNs);
    }

    void stop() {
        timer.cancel();
    }

    /** Asks for the ledger of the next shard, if there is one and the last answer is here; returns the questions asked. */
    int runOnce(long nowNs) {
        if (round.isEmpty()) {
            round.addAll(owned.get());
            forgetOthers(new HashSet<>(round));
            stepNs = everyNs / Math.max(1, round.size());
        }
        timer.setAt(nowNs + stepNs);
        if (asking || round.isEmpty()) {
            return 0;
        }
        ShardId shard = round.remove();
        asking = true;
        ledgers.apply(shard).whenComplete(StoreCalls.guarded((ledger, failure) -> {
            asking = false;
            if (ledger == null) {
                calls.failed(shard.topic(), failure);
            } else {
                answered(shard, ledger);
            }
        }));
        return 1;
    }

    private void answered(ShardId shard, LedgerState ledger) {
        LedgerState before = seen.put(shard, ledger);
        if (before == null && ledger.orphans() > 0) {
            log.warn("ledger: records of jobs were lost {} orphans={}", shown(shard), ledger.orphans());
        } else if (before != null && ledger.orphans() > before.orphans()) {
            log.error(
                    "ledger: records of jobs are lost {} orphans={} before={}",
                    shown(shard),
                    ledger.orphans(),
                    before.orphans());
        }
        tell(shard.topic(), true);
    }

    private static String shown(ShardId shard) {
        return "topic=" + shard.topic() + " shard=" + shard.shard();
    }

    private void forgetOthers(Set<ShardId> nowOwned) {
        List<ShardId> others = seen.keySet().stream()
                .filter(shard -> !nowOwned.contains(shard))
                .toList();
        others.forEach(seen::remove);
        others.stream().map(ShardId::topic).distinct().forEach(topic -> tell(topic, false));
    }

    /** Says how a topic stands; a difference that ends since its shards are another node's now is no news. */
    private void tell(String topic, boolean answered) {
        long difference = 0;
        long orphans = 0;
        List<Integer> shards = new ArrayList<>();
        for (Map.Entry<ShardId, LedgerState> entry : seen.entrySet()) {
            if (entry.getKey().topic().equals(topic)) {
                // Not the sum: a job too many here must not hide one that is missing there.
                difference += Math.abs(entry.getValue().difference());
                orphans += entry.getValue().orphans();
                if (entry.getValue().difference() != 0) {
                    shards.add(entry.getKey().shard());
                }
            }
        }
        telemetry.gauge(Gauge.LEDGER_DIFF, topic, difference);
        telemetry.gauge(Gauge.ORPHANS, topic, orphans);
        long before = told.getOrDefault(topic, 0L);
        if (difference == before) {
            return;
        }
        if (difference == 0) {
            told.remove(topic);
            if (answered) {
                log.info("ledger: adds up topic={} difference_before={}", topic, before);
            }
        } else {
            told.put(topic, difference);
            log.error(
                    "ledger: jobs are not accounted for topic={} difference={} shards={}; \"deploy/minutehand admin audit --deep --topic {}\" tells more",
                    topic,
                    difference,
                    shards,
                    topic);
        }
    }
}
