package io.minutehand.loadtest.fleet;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.worker.JobContext;
import io.minutehand.worker.JobHandler;

/**
 * A handler inside notes in the ledger: a start before it does anything, an end when it is over. Thread-safe, if the
 * handler is.
 */
public final class NotedHandler<T> implements JobHandler<T> {
    private final String node;
    private final int shards;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final JobHandler<T> handler;

    /**
     * Wraps a handler.
     *
     * @param node the name that stands in the notes
     * @param shards shards of the topic
     */
    public NotedHandler(String node, int shards, LedgerWriter ledger, RedisClock clock, JobHandler<T> handler) {
        this.node = node;
        this.shards = shards;
        this.ledger = ledger;
        this.clock = clock;
        this.handler = handler;
    }

    @Override
    public void handle(T payload, JobContext job) throws Exception {
        ledger.append(new Start(
                job.id(),
                job.topic(),
                job.attempt(),
                job.delivery(),
                node,
                ShardMap.shardOf(job.id(), shards),
                job.dueAt().toEpochMilli() * 1_000,
                clock.nowUs(),
                clock.errorUs(),
                System.currentTimeMillis() * 1_000));
        Result result = Result.FAILED;
        try {
            handler.handle(payload, job);
            result = Result.DONE;
        } finally {
            ledger.append(new End(job.id(), job.attempt(), job.delivery(), node, result, clock.nowUs()));
        }
    }
}
