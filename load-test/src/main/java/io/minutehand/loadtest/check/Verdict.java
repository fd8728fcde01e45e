package io.minutehand.loadtest.check;

import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the external ledger says about a run: counts, findings with examples, and the first start of each attempt. */
public final class Verdict {
    /** Examples kept of each finding; enough to look into a case, few enough to print. */
    private static final int EXAMPLES = 20;

    private final Tally tally;
    private final int tornLines;
    private final long damagedLines;

    Verdict(Tally tally, int tornLines, long damagedLines) {
        this.tally = tally;
        this.tornLines = tornLines;
        this.damagedLines = damagedLines;
    }

    /** Returns how often something was found. */
    public long count(Finding finding) {
        return tally.findings.getOrDefault(finding, Cases.NONE).count;
    }

    /** Returns a few cases of a finding, each with the job's id and what happened. */
    public List<String> examples(Finding finding) {
        return Collections.unmodifiableList(tally.findings.getOrDefault(finding, Cases.NONE).examples);
    }

    /** Returns the counts of each topic, by name. */
    public Map<String, Counts> topics() {
        return Collections.unmodifiableMap(tally.topics);
    }

    /** Returns the counts of all topics together. */
    public Counts total() {
        Counts total = new Counts();
        tally.topics.values().forEach(total::add);
        return total;
    }

    /** Returns how many handler starts each node made, by the node's name. */
    public Map<String, Long> startsOfNodes() {
        return Collections.unmodifiableMap(tally.startsOfNodes);
    }

    /** Returns how many jobs ran although their producer never learned that they were stored. */
    public long recovered() {
        return tally.recovered;
    }

    /** Returns the first start of each attempt of each job, in the order of the starts. */
    public List<Start> firstStarts() {
        return Collections.unmodifiableList(tally.firstStarts);
    }

    /** Returns the starts that repeated an attempt, in no order. */
    public List<Start> repeatedStarts() {
        return Collections.unmodifiableList(tally.repeatedStarts);
    }

    /** Returns how many files ended in the middle of a line; each is the mark of a killed process. */
    public int tornLines() {
        return tornLines;
    }

    /** Returns how many whole lines made no sense; with any, the run proves nothing. */
    public long damagedLines() {
        return damagedLines;
    }

    /** Counts of jobs and starts. Mutable while they are being made, read-only after. */
    public static final class Counts {
        private long offered;
        private long accepted;
        private long refused;
        private long unknown;
        private long started;
        private long retried;
        private long done;
        private long dead;
        private long cancelled;

        void count(Ack ack, boolean wasOffered, boolean isDone, boolean isDead, boolean isCancelled) {
            if (wasOffered) {
                offered++;
                switch (ack) {
                    case ACCEPTED -> accepted++;
                    case REFUSED -> refused++;
                    case UNKNOWN -> unknown++;
                }
            }
            // Done wins: a job that is several is counted once, and the finding tells of it.
            if (isDone) {
                done++;
            } else if (isDead) {
                dead++;
            } else if (isCancelled) {
                cancelled++;
            }
        }

        void add(Counts other) {
            offered += other.offered;
            accepted += other.accepted;
            refused += other.refused;
            unknown += other.unknown;
            started += other.started;
            retried += other.retried;
            done += other.done;
            dead += other.dead;
            cancelled += other.cancelled;
        }

        /** Returns how many jobs a producer meant to schedule. */
        public long offered() {
            return offered;
        }

        /** Returns how many were acknowledged. */
        public long accepted() {
            return accepted;
        }

        /** Returns how many were refused. */
        public long refused() {
            return refused;
        }

        /** Returns how many calls stayed without a definite answer. */
        public long unknown() {
            return unknown;
        }

        /** Returns how many times a handler began. */
        public long started() {
            return started;
        }

        /** Returns how many of the starts were of an attempt after the first. */
        public long retried() {
            return retried;
        }

        /** Returns how many jobs were done. */
        public long done() {
            return done;
        }

        /** Returns how many jobs were cancelled, as their producer was told. */
        public long cancelled() {
            return cancelled;
        }

        /** Returns how many jobs became dead letters. */
        public long dead() {
            return dead;
        }
    }

    /** Collects while the checker goes through the jobs. */
    static final class Tally {
        final List<Start> firstStarts = new ArrayList<>();
        final List<Start> repeatedStarts = new ArrayList<>();
        long recovered;
        private final Map<Finding, Cases> findings = new EnumMap<>(Finding.class);
        private final Map<String, Counts> topics = new TreeMap<>();
        private final Map<String, Long> startsOfNodes = new TreeMap<>();

        Counts topic(String name) {
            return topics.computeIfAbsent(name, unused -> new Counts());
        }

        void started(Start start) {
            Counts counts = topic(start.topic());
            counts.started++;
            if (start.attempt() > 1) {
                counts.retried++;
            }
            startsOfNodes.merge(start.node(), 1L, Long::sum);
        }

        void found(Finding finding, String id, String what) {
            Cases cases = findings.computeIfAbsent(finding, unused -> new Cases());
            cases.count++;
            if (cases.examples.size() < EXAMPLES) {
                cases.examples.add(id + ": " + what);
            }
        }
    }

    private static final class Cases {
        static final Cases NONE = new Cases();
        private long count;
        private final List<String> examples = new ArrayList<>();
    }
}
