package io.minutehand.worker;

import io.minutehand.core.bucket.Minutes;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.Handout;
import io.minutehand.core.store.JobStore;
import io.minutehand.core.store.LeaseStore;
import io.minutehand.core.store.NodeId;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.topic.Delivery;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was in flight on the dead or past its deadline. On a death verdict the nodes that own shards now break the dead node's leases there and
 * take over what it had, once per verdict; everything else is taken over when its deadline has passed, and only by a node to which the shard
 * answered without a gap for half the visibility: after an outage the living extend first.
 *
 * <p>A verdict is remembered for a while: a shard that becomes this node's shortly after (since the one that should have executed the verdict
 * died, too, or left) gets it as well. Executing it again finds nothing. Only the node's thread touches this.
 */
final class Recovery {
    private static final Logger log = LoggerFactory.getLogger(Recovery.class);
    private static final int PAGE = 1000;
    private static final long REMEMBER_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int LINES_A_SECOND = 5;

    private final JobStore jobs;
    private final LeaseStore leases;
    private final NodeEngine engine;
    private final Telemetry telemetry;

    private final LogLimiter lines = new LogLimiter(LINES_A_SECOND);

    /** nanoTime at which nodes were found gone, by id. */
    private final Map<String, Long> goneNs = new HashMap<>();

    Recovery(JobStore jobs, LeaseStore leases, NodeEngine engine, Telemetry telemetry) {
        this.jobs = jobs;
        this.leases = leases;
        this.engine = engine;
        this.telemetry = telemetry;
    }

    /** Nodes are gone: their leases and jobs of the shards that this node owns now are taken over. */
    void gone(Set<String> nodes) {
        long nowNs = System.nanoTime();
        goneNs.values().removeIf(atNs -> nowNs - atNs > REMEMBER_NS);
        nodes.forEach(node -> goneNs.put(node, nowNs));
        for (Shard shard : engine.shards()) {
            if (shard.rank == 0) {
                judge(shard, nodes);
            }
        }
    }

    /** A shard has become this node's: what was decided shortly before and may not have been done is done. */
    void owned(Shard shard) {
        long nowNs = System.nanoTime();
        goneNs.values().removeIf(atNs -> nowNs - atNs > REMEMBER_NS);
        judge(shard, goneNs.keySet());
    }

    private void judge(Shard shard, Set<String> nodes) {
        for (String node : nodes) {
            if (shard.verdicts.stream().noneMatch(verdict -> verdict.node.equals(node))) {
                shard.verdicts.add(new Shard.Verdict(node));
            }
        }
        engine.drainer().pump(shard);
    }

    /** Takes the next step for a shard, if there is one and slots are free; true when a call is under way. */
    boolean next(Shard shard) {
        Shard.Verdict verdict = shard.verdicts.peek();
        if (verdict != null) {
            if (verdict.broken) {
                return recover(shard, verdict);
            }
            breakLeases(shard, verdict);
            return true;
        }
        Duration visibility = shard.topic().settings().visibility();
        boolean mayJudge = shard.reachableFor(visibility.dividedBy(2).toNanos(), System.nanoTime());
        return shard.overdue && shard.rank == 0 && mayJudge && recover(shard, new Shard.Verdict(""));
    }

    private void breakLeases(Shard shard, Shard.Verdict verdict) {
        shard.calling = true;
        long until =
                Minutes.of(shard.clock.nowMs() + engine.settings().claimAhead().toMillis());
        leases.look(shard.id, until, List.of())
                .thenCompose(look -> look.minutes().isEmpty()
                        ? CompletableFuture.completedFuture(List.<Boolean>of())
                        : leases.breakLeases(shard.id, look.minutes(), verdict.node))
                .whenComplete(StoreCalls.guarded((broken, failure) -> {
                    shard.calling = false;
                    // When it failed, the leases end by themselves: what was in flight matters more.
                    verdict.broken = true;
                    if (broken == null) {
                        engine.calls().failed(shard.id.topic(), failure);
                    } else if (broken.contains(true)) {
                        log.info(
                                "recovery: leases broken {} of_node={} count={}",
                                shard,
                                verdict.node,
                                broken.stream().filter(b -> b).count());
                    }
                    shard.claimedNs.clear();
                    shard.lookTimer.setBy(System.nanoTime());
                    engine.checkStopped();
                    engine.drainer().pump(shard);
                }));
    }

    private boolean recover(Shard shard, Shard.Verdict verdict) {
        // What is taken over was handed out before: one at a time, see Suspects. A topic that runs jobs at most once
        // starts them like new, since
        // they were not acknowledged and so never ran.
        boolean slotted = shard.topic().settings().delivery() == Delivery.AT_MOST_ONCE;
        Suspects suspects = engine.handlers().suspects();
        int granted;
        if (slotted) {
            granted = engine.slots().reserve(shard, Limits.BATCH_JOBS);
        } else {
            granted = suspects.expect(shard) ? 1 : 0;
        }
        if (granted == 0) {
            return false;
        }
        shard.calling = true;
        long sentNs = System.nanoTime();
        long seq = shard.seq + 1;
        NodeId node = engine.membership().node();
        Duration visibility = shard.topic().settings().visibility();
        engine.calls()
                .<Handout>repeat(
                        shard.id.topic(),
                        () -> node.equals(engine.membership().node()) && !engine.closed(),
                        () -> jobs.recover(shard.id, node, seq, granted, visibility, verdict.node, verdict.offset),
                        (handout, failure, tries) -> {
                            int count = handout == null ? 0 : handout.jobs().size();
                            if (slotted) {
                                engine.slots().release(shard.topic(), granted - count);
                            }
                            try {
                                if (handout == null) {
                                    // Refused for good, or the node is another now: the deadline and the next look
                                    // remain.
                                    shard.overdue = false;
                                    shard.verdicts.remove(verdict);
                                } else {
                                    recovered(shard, verdict, handout, sentNs, slotted);
                                }
                            } finally {
                                if (!slotted) {
                                    suspects.came();
                                }
                                engine.drainer().settle(shard, node, seq, failure);
                            }
                        });
        return true;
    }

    private void recovered(Shard shard, Shard.Verdict verdict, Handout handout, long sentNs, boolean slotted) {
        int count = handout.jobs().size();
        boolean more = handout.next() == 1;
        verdict.taken += count;
        if (verdict.node.isEmpty()) {
            shard.overdue = more && (count > 0 || handout.skipped() > 0);
        } else if (!more) {
            shard.verdicts.remove(verdict);
        } else if (count == 0) {
            verdict.offset += PAGE;
        }
        if (handout.skipped() > 0) {
            telemetry.count(Counter.SKIPPED_NEWER, shard.id.topic(), handout.skipped());
        }
        if (count > 0) {
            telemetry.count(Counter.RECOVERED, shard.id.topic(), count);
            engine.handlers().accept(shard, handout.jobs(), sentNs, slotted);
        }
        if (verdict.node.isEmpty() && count > 0) {
            lines.log(left -> log.info("recovery: took over {} jobs={} past their deadline{}", shard, count, left));
        } else if (!more && verdict.taken > 0) {
            log.info("recovery: took over {} jobs={} of_node={}", shard, verdict.taken, verdict.node);
        }
    }
}
