package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.report.RunFacts.Join;
import io.minutehand.loadtest.report.RunFacts.Kill;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Does to the nodes what the options ask for, at its time: kills one, adds one. For one thread. */
final class NodeChanges {
    private final DemoOptions options;
    private final Stage stage;
    private final Fleet fleet;
    private final Consumer<String> tell;
    private final KillNode killing;

    private @Nullable Kill kill;
    private long killTriesSinceNs;
    private @Nullable WorkerProcess joining;
    private @Nullable Join join;

    /**
     * Plans the changes.
     *
     * @param tell takes what happened, in a few words
     */
    NodeChanges(DemoOptions options, Stage stage, Fleet fleet, Consumer<String> tell) {
        this.options = options;
        this.stage = stage;
        this.fleet = fleet;
        this.tell = tell;
        this.killing = new KillNode(fleet, stage.probe(), stage.clock());
    }

    /**
     * Does what is due.
     *
     * @param seconds since the first job was due
     * @throws InvalidRunException if there is nothing to kill
     */
    void runOnce(double seconds) throws IOException, InterruptedException, InvalidRunException {
        Double killAt = options.killNodeAt();
        if (killAt != null && kill == null && seconds >= killAt) {
            killOne(killAt);
        }
        Double addAt = options.addNodeAt();
        if (addAt != null && join == null && seconds >= addAt) {
            addOne();
        }
    }

    /**
     * Makes sure that all that was asked for has been done.
     *
     * @throws InvalidRunException if it has not
     */
    void requireDone() throws InvalidRunException {
        if (options.killNodeAt() != null && kill == null) {
            throw new InvalidRunException("all jobs had ended before a worker could be killed");
        }
        if (options.addNodeAt() != null && join == null) {
            throw new InvalidRunException("all jobs had ended before the new worker was ready");
        }
    }

    /** Returns what was killed, or null. */
    @Nullable
    Kill kill() {
        return kill;
    }

    /** Returns what joined, or null. */
    @Nullable
    Join join() {
        return join;
    }

    private void killOne(double at) throws IOException, InterruptedException, InvalidRunException {
        if (killTriesSinceNs == 0) {
            killTriesSinceNs = System.nanoTime();
        }
        Kill done = killing.tryOnce();
        if (done != null) {
            kill = done;
            String what = done.held().size() + " buckets and " + done.inFlight() + " jobs in flight";
            stage.ledger().append(new NodeEvent(done.node(), "killed", what, done.atUs()));
            tell.accept(done.node() + " killed (SIGKILL) with " + what);
        } else if (System.nanoTime() - killTriesSinceNs > KillNode.PATIENCE_NS) {
            throw new InvalidRunException("no worker had both buckets and jobs in flight within "
                    + KillNode.PATIENCE_NS / 1_000_000_000 + " s after " + at
                    + " s, so a kill would have shown nothing; try a higher --rate");
        }
    }

    private void addOne() {
        WorkerProcess worker = joining;
        if (worker == null) {
            joining = fleet.add();
            tell.accept(joining.name() + " is starting");
            return;
        }
        String nodeId = worker.nodeId();
        if (nodeId == null) {
            return;
        }
        long readyUs = stage.clock().nowUs();
        stage.ledger().append(new NodeEvent(worker.name(), "ready", "id " + nodeId, readyUs));
        List<String> members = fleet.ready().stream()
                .map(member -> String.valueOf(member.nodeId()))
                .toList();
        join = new Join(worker.name(), readyUs, Owners.shardsOf(nodeId, stage.topics(), options.shards(), members));
        tell.accept(worker.name() + " joined");
    }
}
