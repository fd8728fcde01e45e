package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.Test;

/**
 * The test of calls at once is worth what it catches. Defects that one call after the other cannot show are planted here: what should be one script is
 * two. What a sequence shows, too, is shrunk to a sequence.
 */
class PlantedRacesIT {
    private static final int ROUNDS = 20;
    private static final int HANDFUL = 8;
    private static final String DONE = "redis.call('HINCRBY', ledger, 'done', #gone)";
    private static final String IN_FLIGHT = "if not redis.call('ZSCORE', inflight, receipt)";

    /** ack counts what it ended, but by a call of its own: in between the ledger misses a job. */
    @Test
    void shouldCatchACounterInASecondScript() {
        ModelRun.Failure failure = caught("ack", DONE, "", (process, call) -> {
            String answer = call.on(process);
            if (call instanceof ModelOp.Ack ack && answer.contains("true")) {
                long ended = ack.jobs().stream()
                        .map(HandedJob::receipt)
                        .distinct()
                        .filter(receipt -> ended(ack, answer, receipt))
                        .count();
                process.redis.call("HINCRBY", process.keys.ledger(process.shard()), "done", ended);
            }
            return answer;
        });

        assertThat(failure.difference()).contains("AUDIT", "not when called one after the other");
    }

    /** bury trusts that its caller looked whether the job is in flight under its receipt: meanwhile another may have ended it. */
    @Test
    void shouldCatchACheckThatIsMadeByAnotherCall() {
        ModelRun.Failure failure = caught("bury", IN_FLIGHT, "if reason == 'refused'", (process, call) -> {
            if (call instanceof ModelOp.Bury bury) {
                String inflight = process.keys.inflight(process.shard());
                String receipt = bury.job().receipt().toString();
                boolean good = process.redis.call("ZSCORE", inflight, receipt) != null;
                return (good ? bury : new ModelOp.Bury(bury.job(), "refused")).on(process);
            }
            return call.on(process);
        });

        // How it shows depends on what became of the job in between.
        assertThat(failure.difference()).contains("not when called one after the other");
    }

    @Test
    void shouldShrinkWhatASequenceShowsToAHandfulOfCalls() {
        ModelRun.Failure failure =
                caught("pop", "if redis.call('HEXISTS', lease, holder) == 0 then", "if false then", ModelRun.PLAIN);

        assertThat(failure.calls()).hasSizeBetween(1, HANDFUL);
        assertThat(failure.difference()).contains("the model says FENCED");
    }

    private static boolean ended(ModelOp.Ack ack, String answer, Receipt receipt) {
        List<String> answers = List.of(answer.substring(1, answer.length() - 1).split(", "));
        for (int i = 0; i < ack.jobs().size(); i++) {
            if (ack.jobs().get(i).receipt().equals(receipt) && answers.get(i).equals("true")) {
                return true;
            }
        }
        return false;
    }

    private static ModelRun.Failure caught(String script, String from, String to, ModelRun.Sender sender) {
        BinaryOperator<String> bug = (name, text) -> name.equals(script) ? TestStore.replaced(text, from, to) : text;
        try (TestStore store = TestStore.open(bug);
                ConcurrentRun run = new ConcurrentRun(store, sender)) {
            for (int i = 0; i < ROUNDS; i++) {
                Optional<ModelRun.Failure> failure = run.round(ModelIT.SEED + i);
                if (failure.isPresent()) {
                    ModelRun.Failure smallest = run.smallest(failure.get());
                    System.out.printf(
                            "planted in %s: caught in round %d, after %d calls, told by %d: %s%n",
                            script,
                            i + 1,
                            failure.get().calls().size(),
                            smallest.calls().size(),
                            smallest.difference());
                    return smallest;
                }
            }
        }
        throw new AssertionError("the bug in " + script + " was not caught in " + ROUNDS + " rounds");
    }
}
