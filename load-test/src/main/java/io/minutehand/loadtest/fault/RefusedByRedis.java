package io.minutehand.loadtest.fault;

import io.minutehand.core.store.StoreException;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.router.JobRouter;
import io.minutehand.worker.WorkerNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Row 31: Redis refuses: wrong password, a user without the scripts, a replica. Beside it all goes on. */
final class RefusedByRedis implements FaultRow {
    private static final String WRONG = "not-the-password-7f3a";
    private static final String WEAK = "weak-user-password-51c2";
    private static final double DECIDED_MS = 5_000;

    private final List<String> wrong = new ArrayList<>();
    private final List<String> told = new ArrayList<>();
    private long longestMs;

    /** Starts something that must not come to work. */
    private interface Start {
        /** Returns whether it works. */
        boolean works();
    }

    @Override
    public String number() {
        return "31";
    }

    @Override
    public String fault() {
        return "WRONGPASS, NOPERM, READONLY at the start of a node and of a router";
    }

    @Override
    public String passLine() {
        return "the start is refused, or the node is not ready, within 5 s; no password in what is said; the others go on:"
                + " nothing lost, duplicates 0";
    }

    @Override
    public void strike(Arena arena) throws Exception {
        arena.untilLoad(0.1);
        String address = "@127.0.0.1:" + arena.redis().port();
        attempt("a node with the wrong password", () -> nodeWorks("redis://:" + WRONG + address));
        attempt("a router with the wrong password", () -> routerWorks("redis://:" + WRONG + address));
        try (RedisCommands redis = arena.commands()) {
            redis.call("ACL", "SETUSER", "weak", "on", ">" + WEAK, "~*", "&*", "+@all", "-evalsha");
        }
        attempt("a node whose user may not EVALSHA", () -> nodeWorks("redis://weak:" + WEAK + address));
        RedisSettings replica = RedisSettings.defaults()
                .withPassword(arena.redis().password())
                .with("replicaof 127.0.0.1 " + arena.redis().port());
        try (RedisServer server = RedisServer.start(replica)) {
            arena.await("the replica to be in step", Duration.ofSeconds(20), () -> {
                try (RedisCommands commands = server.connect()) {
                    return "up".equals(commands.info("replication").get("master_link_status"));
                }
            });
            attempt("a node at a replica", () -> nodeWorks(server.uri()));
        }
        arena.event("starts", "refused", String.join("; ", told));
    }

    private void attempt(String what, Start start) {
        long beganNs = System.nanoTime();
        try {
            if (start.works()) {
                wrong.add(what + " works");
            } else {
                told.add(what + ": not ready");
            }
        } catch (StoreException e) {
            StringWriter all = new StringWriter();
            e.printStackTrace(new PrintWriter(all));
            if (all.toString().contains(WRONG) || all.toString().contains(WEAK)) {
                wrong.add(what + " tells the password");
            }
            told.add(what + ": " + e.getMessage());
        }
        longestMs = Math.max(longestMs, (System.nanoTime() - beganNs) / 1_000_000);
    }

    private static boolean nodeWorks(String uri) {
        try (WorkerNode node = WorkerNode.connect(uri)
                .namespace(Arena.NAMESPACE)
                .name("refused")
                .handle(RunSettings.TOPIC, (payload, job) -> {})
                .start()) {
            return node.ready();
        }
    }

    private static boolean routerWorks(String uri) {
        try (JobRouter router =
                JobRouter.builder().redis(uri).namespace(Arena.NAMESPACE).connect()) {
            return router.bufferedBytes() >= 0;
        }
    }

    @Override
    public void judge(Judge judge) {
        judge.none("starts that were not refused, or told too much", wrong);
        // A node that is not ready has waited 5 s to be, and is closed then.
        judge.atMost("longest start ms", DECIDED_MS + 2_000 + judge.slackMs(), longestMs);
        judge.duplicatesAtMost(0);
    }
}
