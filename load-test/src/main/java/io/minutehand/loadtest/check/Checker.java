package io.minutehand.loadtest.check;

import io.minutehand.loadtest.ledger.LedgerRecord;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Cancel;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.ledger.LedgerTail;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Joins the ledger entries of all processes by job and judges each job.
 *
 * <p>Entries may come in any order, because the files of the processes are read one after the other: nothing is
 * concluded before {@link #verdict}. Which start of an attempt was the first is decided by the Redis clock, not by the
 * order of reading. Only files are believed; the product's own counters are not asked.
 *
 * <p>For one thread.
 */
public final class Checker {
    private static final long MS_US = 1_000;

    private final Rules rules;
    private final Map<String, Trace> traces = new HashMap<>();
    /** Topic and node names, each kept once, for they are read again with every line; ids are kept once likewise. */
    private final Map<String, String> names = new HashMap<>();

    /**
     * What a checker must know about a run.
     *
     * @param apart topics whose jobs are left out of all numbers, such as the warm-up
     * @param retryDelayUs the shortest delay before a retry, by topic; topics without an entry are not checked
     */
    public record Rules(Set<String> apart, Map<String, Long> retryDelayUs) {
        /** Copies what it is given. */
        public Rules {
            apart = Set.copyOf(apart);
            retryDelayUs = Map.copyOf(retryDelayUs);
        }

        /** Returns rules without exceptions and without known retry delays. */
        public static Rules none() {
            return new Rules(Set.of(), Map.of());
        }
    }

    /** Creates a checker that knows nothing yet. */
    public Checker(Rules rules) {
        this.rules = rules;
    }

    /** Judges the ledger files of a directory. */
    public static Verdict check(Path directory, Rules rules) throws IOException {
        Checker checker = new Checker(rules);
        LedgerTail tail = LedgerTail.readAll(directory, checker::accept);
        return checker.verdict(tail.tornLines(), tail.damagedLines());
    }

    /** Takes one entry. */
    public void accept(LedgerRecord entry) {
        if (entry instanceof Start start) {
            Trace trace = trace(start.id());
            trace.nameTopic(kept(start.topic()));
            trace.starts.add(new Start(
                    trace.id,
                    kept(start.topic()),
                    start.attempt(),
                    start.delivery(),
                    kept(start.node()),
                    start.shard(),
                    start.dueUs(),
                    start.startUs(),
                    start.errorUs(),
                    start.wallUs()));
        } else if (entry instanceof End end) {
            Trace trace = trace(end.id());
            trace.ends.add(
                    new End(trace.id, end.attempt(), end.delivery(), kept(end.node()), end.result(), end.atUs()));
        } else if (entry instanceof Dead dead) {
            Trace trace = trace(dead.id());
            trace.nameTopic(kept(dead.topic()));
            trace.deaths.add(new Dead(trace.id, trace.topic, dead.attempt(), kept(dead.node()), dead.atUs()));
        } else if (entry instanceof Intent intent) {
            Trace trace = trace(intent.id());
            trace.nameTopic(kept(intent.topic()));
            trace.offered = true;
            trace.dueUs = intent.dueUs();
        } else if (entry instanceof Outcome outcome) {
            trace(outcome.id()).answer(outcome);
        } else if (entry instanceof Cancel cancel) {
            trace(cancel.id()).cancelled(cancel);
        } else if (entry instanceof NodeEvent) {
            // For people; a node's comings and goings excuse nothing.
        } else {
            throw new IllegalArgumentException("no rule for " + entry.getClass());
        }
    }

    /**
     * Judges what was taken so far.
     *
     * @param tornLines lines cut off at the end of a file
     * @param damagedLines whole lines that could not be read
     */
    public Verdict verdict(int tornLines, long damagedLines) {
        Verdict.Tally tally = new Verdict.Tally();
        for (Trace trace : traces.values()) {
            if (!rules.apart.contains(trace.topic)) {
                judge(trace, tally);
            }
        }
        tally.firstStarts.sort(Comparator.comparingLong(Start::startUs));
        return new Verdict(tally, tornLines, damagedLines);
    }

    private void judge(Trace trace, Verdict.Tally tally) {
        boolean done = trace.isDone();
        boolean dead = !trace.deaths.isEmpty();
        boolean cancelled = trace.isCancelled();
        tally.topic(trace.topic).count(trace.ack(), trace.offered, done, dead, cancelled);
        if (done && trace.ack() == Ack.UNKNOWN) {
            tally.recovered++;
        }
        if (trace.ack() == Ack.ACCEPTED && !done && !dead && !cancelled) {
            tally.found(Finding.LOST, trace.id, "acknowledged, started " + trace.starts.size() + " times, no end");
        }
        if (!trace.starts.isEmpty() && (!trace.offered || trace.ack() == Ack.REFUSED)) {
            tally.found(Finding.UNEXPECTED, trace.id, trace.offered ? "ran although refused" : "was never offered");
        }
        if (trace.doneEnds() + (dead ? 1 : 0) + (cancelled ? 1 : 0) > 1) {
            tally.found(
                    Finding.TWO_ENDS,
                    trace.id,
                    trace.doneEnds() + " times done, dead letters " + trace.deaths.size() + ", cancelled " + cancelled);
        }
        judgeStarts(trace, tally);
    }

    private void judgeStarts(Trace trace, Verdict.Tally tally) {
        trace.starts.sort(Comparator.comparingLong(Start::startUs));
        Map<Integer, Start> firsts = new HashMap<>();
        for (Start start : trace.starts) {
            tally.started(start);
            Start first = firsts.putIfAbsent(start.attempt(), start);
            if (first == null) {
                tally.firstStarts.add(trace.asAsked(start));
            } else {
                tally.repeatedStarts.add(start);
                tally.found(
                        Finding.DUPLICATE,
                        trace.id,
                        "attempt " + start.attempt() + " on " + first.node() + " (delivery " + first.delivery()
                                + ") and on " + start.node() + " (delivery " + start.delivery() + ")");
            }
            String early = earliness(trace, start);
            if (early != null) {
                tally.found(Finding.EARLY, trace.id, early);
            }
            if (first == null && trace.endedBefore(start)) {
                tally.found(Finding.RUN_AFTER_END, trace.id, "attempt " + start.attempt() + " on " + start.node());
            }
            if (start.startUs() - start.errorUs() > trace.cancelledUs) {
                tally.found(
                        Finding.RUN_AFTER_CANCEL,
                        trace.id,
                        "attempt " + start.attempt() + " on " + start.node() + " "
                                + (start.startUs() - trace.cancelledUs) + " us after the answer");
            }
            if (trace.hasOtherDue(start)) {
                tally.found(
                        Finding.DUE_CHANGED, trace.id, "asked for " + trace.dueUs + " us, ran for " + start.dueUs());
            }
        }
    }

    /** Says why a start was early, or returns null. A start is early only if the clocks leave no doubt. */
    private @Nullable String earliness(Trace trace, Start start) {
        long dueUs = trace.offered && start.attempt() == 1 ? Math.max(trace.dueUs, start.dueUs()) : start.dueUs();
        long latestUs = start.startUs() + start.errorUs();
        if (latestUs < dueUs) {
            return "attempt " + start.attempt() + " started " + (dueUs - latestUs) + " us before it was due";
        }
        Long delayUs = rules.retryDelayUs.get(start.topic());
        long failedUs = delayUs == null ? 0 : trace.failedUs(start.attempt() - 1);
        // Due times are whole milliseconds, cut: a retry may be due up to one sooner than the delay says.
        if (delayUs != null && failedUs > 0 && start.dueUs() + MS_US + start.errorUs() < failedUs + delayUs) {
            return "attempt " + start.attempt() + " was due " + (start.dueUs() - failedUs)
                    + " us after the failure before it, not " + delayUs;
        }
        return null;
    }

    private Trace trace(String id) {
        return traces.computeIfAbsent(id, Trace::new);
    }

    private String kept(String name) {
        String kept = names.putIfAbsent(name, name);
        return kept == null ? name : kept;
    }

    /** All that the files say about one job. */
    private static final class Trace {
        private final String id;
        private final List<Start> starts = new ArrayList<>(1);
        private final List<End> ends = new ArrayList<>(1);
        private final List<Dead> deaths = new ArrayList<>(0);
        private String topic = "?";
        private boolean offered;
        private long dueUs;
        private Ack ack = Ack.UNKNOWN;
        /** When the producer had the answer that counts; never, if it had none. */
        private long answeredUs = Long.MAX_VALUE;
        /** Whether a call stayed without a definite answer: what refuses a later call says nothing about that one. */
        private boolean doubtful;
        /** When the producer knew first that the job was cancelled; never, if it was not. */
        private long cancelledUs = Long.MAX_VALUE;

        Trace(String id) {
            this.id = id;
        }

        void nameTopic(String name) {
            topic = name;
        }

        /** A producer may repeat a call whose outcome is unknown: one acceptance is binding, whatever else was said. */
        void answer(Outcome outcome) {
            if (outcome.ack() == Ack.ACCEPTED) {
                // Redis may have come back empty in between: what is asked for again too late is due when it is stored.
                answeredUs = ack == Ack.ACCEPTED ? Math.max(answeredUs, outcome.atUs()) : outcome.atUs();
            }
            doubtful |= outcome.ack() == Ack.UNKNOWN;
            if (ack != Ack.ACCEPTED && outcome.ack() != Ack.UNKNOWN) {
                ack = outcome.ack();
            }
        }

        /** What is known of the call, or calls. The order of the outcomes does not matter. */
        Ack ack() {
            return ack == Ack.REFUSED && doubtful ? Ack.UNKNOWN : ack;
        }

        void cancelled(Cancel cancel) {
            if (cancel.ack() == Ack.ACCEPTED) {
                cancelledUs = Math.min(cancelledUs, cancel.atUs());
            }
        }

        boolean isCancelled() {
            return cancelledUs != Long.MAX_VALUE;
        }

        /**
         * Whether the first attempt had a due time that its producer did not ask for. A job that is asked for too late
         * becomes due when it is stored, which is before the answer.
         */
        boolean hasOtherDue(Start start) {
            boolean askedTooLate = start.dueUs() > dueUs && start.dueUs() <= answeredUs;
            return offered && start.attempt() == 1 && start.dueUs() != dueUs && !askedTooLate;
        }

        /** The start against the due time that its producer asked for: no excuse for one that could not call in time. */
        Start asAsked(Start start) {
            return offered && start.attempt() == 1
                    ? new Start(
                            id,
                            start.topic(),
                            start.attempt(),
                            start.delivery(),
                            start.node(),
                            start.shard(),
                            dueUs,
                            start.startUs(),
                            start.errorUs(),
                            start.wallUs())
                    : start;
        }

        boolean isDone() {
            return doneEnds() > 0;
        }

        int doneEnds() {
            int dones = 0;
            for (End end : ends) {
                if (end.result() == Result.DONE) {
                    dones++;
                }
            }
            return dones;
        }

        boolean endedBefore(Start start) {
            for (End end : ends) {
                if (end.result() == Result.DONE && end.attempt() != start.attempt() && end.atUs() < start.startUs()) {
                    return true;
                }
            }
            for (Dead dead : deaths) {
                if (dead.atUs() < start.startUs()) {
                    return true;
                }
            }
            return false;
        }

        /** Returns when an attempt failed first, or 0 if it is not known to have failed. */
        long failedUs(int attempt) {
            long firstUs = 0;
            for (End end : ends) {
                if (end.result() == Result.FAILED && end.attempt() == attempt) {
                    firstUs = firstUs == 0 ? end.atUs() : Math.min(firstUs, end.atUs());
                }
            }
            return firstUs;
        }
    }
}
