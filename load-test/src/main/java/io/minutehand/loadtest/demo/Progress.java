package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.check.Lateness;
import io.minutehand.loadtest.ledger.LedgerRecord;
import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * How far a run has come, from ledger entries as they appear. It is for watching and for knowing when to stop; the
 * verdict is the checker's, which reads all files again. For one thread.
 */
final class Progress {
    private final Map<String, Job> jobs = new HashMap<>();
    private final Map<String, Row> topics = new LinkedHashMap<>();
    private final Map<String, Row> nodes = new LinkedHashMap<>();
    private final Row total = new Row();
    private long warmupEnded;

    /** Counts and lateness of a topic, a node, or all. */
    static final class Row {
        private final Lateness.Recorder lateness = new Lateness.Recorder();
        private long accepted;
        private long refused;
        private long started;
        private long retried;
        private long done;
        private long dead;

        long accepted() {
            return accepted;
        }

        long refused() {
            return refused;
        }

        long started() {
            return started;
        }

        long retried() {
            return retried;
        }

        long done() {
            return done;
        }

        long dead() {
            return dead;
        }

        Lateness lateness() {
            return Lateness.of(lateness);
        }
    }

    private static final class Job {
        private String topic = "";
        private boolean accepted;
        private boolean ended;
        private int attempts;
    }

    /** Starts with rows for these topics, so that they are shown before their first job. */
    Progress(Iterable<String> topicNames) {
        topicNames.forEach(name -> topics.put(name, new Row()));
    }

    /** Takes one entry. */
    void accept(LedgerRecord entry) {
        if (entry instanceof Start start) {
            started(start);
        } else if (entry instanceof End end && end.result() == Result.DONE) {
            ended(end.id(), end.node(), true);
        } else if (entry instanceof Dead dead) {
            ended(dead.id(), dead.node(), false);
        } else if (entry instanceof Intent intent) {
            job(intent.id()).topic = intent.topic();
        } else if (entry instanceof Outcome outcome) {
            answered(outcome);
        }
    }

    private void started(Start start) {
        Job job = job(start.id());
        job.topic = start.topic();
        if (isWarmup(job)) {
            return;
        }
        Row topic = topic(job);
        Row node = node(start.node());
        boolean first = start.attempt() > job.attempts;
        for (Row row : new Row[] {total, topic, node}) {
            row.started++;
            if (first) {
                row.lateness.record(start.startUs() - start.dueUs());
                row.retried += start.attempt() > 1 ? 1 : 0;
            }
        }
        job.attempts = Math.max(job.attempts, start.attempt());
    }

    private void ended(String id, String nodeName, boolean isDone) {
        Job job = job(id);
        if (job.ended) {
            return;
        }
        job.ended = true;
        if (isWarmup(job)) {
            warmupEnded++;
            return;
        }
        for (Row row : new Row[] {total, topic(job), node(nodeName)}) {
            if (isDone) {
                row.done++;
            } else {
                row.dead++;
            }
        }
    }

    private void answered(Outcome outcome) {
        Job job = job(outcome.id());
        if (isWarmup(job) || job.accepted || outcome.ack() == Ack.UNKNOWN) {
            return;
        }
        for (Row row : new Row[] {total, topic(job)}) {
            if (outcome.ack() == Ack.ACCEPTED) {
                row.accepted++;
            } else {
                row.refused++;
            }
        }
        job.accepted = outcome.ack() == Ack.ACCEPTED;
    }

    Row total() {
        return total;
    }

    Map<String, Row> topics() {
        return topics;
    }

    /** Returns the row of a node; one without a start is all zero. */
    Row node(String name) {
        return nodes.computeIfAbsent(name, unused -> new Row());
    }

    /** Returns how many measured jobs are done or dead. */
    long ended() {
        return total.done + total.dead;
    }

    /** Returns the measured jobs that were accepted and have not ended, id to topic. */
    Map<String, String> open() {
        Map<String, String> open = new TreeMap<>();
        jobs.forEach((id, job) -> {
            if (job.accepted && !job.ended && !isWarmup(job)) {
                open.put(id, job.topic);
            }
        });
        return open;
    }

    /** Returns how many warm-up jobs are done or dead. */
    long warmupEnded() {
        return warmupEnded;
    }

    private Row topic(Job job) {
        return topics.computeIfAbsent(job.topic, unused -> new Row());
    }

    private Job job(String id) {
        return jobs.computeIfAbsent(id, unused -> new Job());
    }

    private static boolean isWarmup(Job job) {
        return job.topic.equals(DemoTopic.WARMUP);
    }
}
