package io.minutehand.core.store;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.store.ScriptRunner.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Shards as homes of ids: who lives there, and giving one up when the shard count has become smaller. Futures fail with {@link StoreException}.
 * Thread-safe.
 */
public final class HomeStore {
    private final ScriptRunner runner;
    private final Keyspace keys;

    HomeStore(StoreConnection connection, ScriptRunner runner) {
        this.runner = runner;
        this.keys = connection.keys();
    }

    /**
     * A page of the jobs of a record hash.
     *
     * @param next cursor of the next page, "0" = this was the last
     * @param ids what was on it; an id may come on two pages
     */
    public record Page(String next, List<String> ids) {}

    /**
     * Reads a page. Who reads from cursor "0" until it comes back has seen every job that was there all the time.
     *
     * @param hash the record hash, 0 to 15
     */
    public CompletableFuture<Page> page(ShardId shard, int hash, String cursor) {
        Call call =
                new Call(Script.MEMBERS).key(keys.allRecords(shard).get(hash)).arg(cursor);
        return runner.run(call).thenApply(reply -> {
            List<String> ids = new ArrayList<>(reply.size() - 2);
            for (int i = 2; i < reply.size(); i++) {
                ids.add(ShardMap.idOf(reply.text(i)));
            }
            return new Page(reply.text(1), ids);
        });
    }

    /**
     * Adds counters to those of a shard, once.
     *
     * @param mark names what is added; the same mark adds nothing again
     */
    public CompletableFuture<Void> absorb(ShardId shard, String mark, Map<String, Long> counters) {
        Call call = new Call(Script.ABSORB).key(keys.ledger(shard)).arg(mark);
        counters.forEach((counter, number) -> call.arg(counter).arg(number));
        return runner.run(call).thenApply(reply -> null);
    }

    /** Forgets a shard that holds nothing; false when it holds jobs. */
    public CompletableFuture<Boolean> retire(ShardId shard) {
        Call call = new Call(Script.RETIRE)
                .key(keys.ledger(shard))
                .key(keys.index(shard))
                .key(keys.inflight(shard))
                .key(keys.dead(shard))
                .keys(keys.allRecords(shard));
        return runner.run(call).thenApply(reply -> reply.text(0).equals("OK"));
    }
}
