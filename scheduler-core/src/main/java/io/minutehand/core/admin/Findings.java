package io.minutehand.core.admin;

import io.minutehand.core.admin.Finding.Kind;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.store.LedgerState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Collects what an audit finds: all are counted, the first are kept. Not thread-safe. */
final class Findings {
    private final ShardId shard;
    private final List<Finding> first = new ArrayList<>();
    private final Map<Kind, ShardAudit.Count> counts = new EnumMap<>(Kind.class);

    Findings(ShardId shard) {
        this.shard = shard;
    }

    void add(Kind kind, String subject, boolean repaired) {
        counts.merge(
                kind,
                new ShardAudit.Count(1, repaired ? 1 : 0),
                (a, b) -> new ShardAudit.Count(a.found() + b.found(), a.repaired() + b.repaired()));
        if (first.size() < ShardAudit.FINDINGS) {
            first.add(new Finding(shard, kind, subject, repaired));
        }
    }

    void addLedger(LedgerState ledger) {
        if (ledger.difference() != 0) {
            add(Kind.LEDGER, "difference=" + ledger.difference(), false);
        }
    }

    List<Finding> first() {
        return List.copyOf(first);
    }

    Map<Kind, ShardAudit.Count> counts() {
        return Collections.unmodifiableMap(new EnumMap<>(counts));
    }
}
