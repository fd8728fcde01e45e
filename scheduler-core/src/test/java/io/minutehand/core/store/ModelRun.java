package io.minutehand.core.store;

import static io.minutehand.core.store.TestStore.get;

import io.minutehand.core.bucket.BucketId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Sends calls to a model and to Redis, and compares reply, whole image and audit after each. */
final class ModelRun {
    /** Shrinking is for the reader's sake: it ends after this time with what it has. */
    private static final long SHRINK_NS = Duration.ofSeconds(20).toNanos();

    /**
     * A sequence after which the two differ.
     *
     * @param calls the calls, the last of which showed it
     * @param difference what differed
     */
    record Failure(List<ModelOp> calls, String difference) {
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(difference).append("\nafter\n");
            calls.forEach(call -> text.append("  ").append(call).append('\n'));
            return text.toString();
        }
    }

    /** Sends a call: tests plant defects of callers here. */
    interface Sender {
        String send(TestStore store, ModelOp call);
    }

    /** As the call itself says. */
    static final Sender PLAIN = (store, call) -> call.on(store);

    private final TestStore store;
    private final Sender sender;
    private final ShardModel model = new ShardModel();
    private ModelOp lastCall;
    private String lastAnswer;
    private ShardImage lastImage;

    private ModelRun(TestStore store, Sender sender) {
        this.store = store;
        this.sender = sender;
        store.freshShard();
    }

    /** Runs a random sequence; the same seed makes the same calls as long as model and store agree. */
    static Optional<Failure> random(TestStore store, long seed, int length) {
        ModelRun run = new ModelRun(store, PLAIN);
        RandomCalls calls = new RandomCalls(seed, run.model);
        List<ModelOp> sent = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            ModelOp call = calls.next();
            sent.add(call);
            String difference = run.step(call);
            if (difference != null) {
                return Optional.of(new Failure(sent, difference));
            }
            calls.sent(call);
        }
        return Optional.empty();
    }

    /** Runs given calls on a fresh shard, up to the first difference. */
    static Optional<Failure> replay(TestStore store, Sender sender, List<ModelOp> calls) {
        ModelRun run = new ModelRun(store, sender);
        for (int i = 0; i < calls.size(); i++) {
            String difference = run.step(calls.get(i));
            if (difference != null) {
                return Optional.of(new Failure(List.copyOf(calls.subList(0, i + 1)), difference));
            }
        }
        return Optional.empty();
    }

    /** Leaves out calls, many at once and then one by one, as long as something still differs. */
    static Failure shrink(TestStore store, Failure failure) {
        return shrink(store, PLAIN, failure);
    }

    /** The same with calls that are sent otherwise. */
    static Failure shrink(TestStore store, Sender sender, Failure failure) {
        long endNs = System.nanoTime() + SHRINK_NS;
        Failure smallest = failure;
        for (int chunk = Math.max(1, failure.calls().size() / 2); chunk >= 1; chunk /= 2) {
            boolean shrunk = true;
            while (shrunk) {
                shrunk = false;
                for (int from = smallest.calls().size() - chunk; from >= 0; from -= chunk) {
                    if (System.nanoTime() - endNs > 0) {
                        return smallest;
                    }
                    List<ModelOp> fewer = new ArrayList<>(smallest.calls());
                    fewer.subList(from, from + chunk).clear();
                    Optional<Failure> again = replay(store, sender, fewer);
                    if (again.isPresent()) {
                        smallest = again.get();
                        shrunk = true;
                        break;
                    }
                }
            }
        }
        return smallest;
    }

    /** One call on both sides; null when they agree. */
    private String step(ModelOp call) {
        String expected = call instanceof ModelOp.Advance advance ? advance(model, advance, store) : call.on(model);
        String answer;
        try {
            answer = sender.send(store, call instanceof ModelOp.Repeat repeat ? repeat.call() : call);
        } catch (RuntimeException failed) {
            return "the store threw " + failed;
        }
        if (!answer.equals(expected)) {
            return "reply is " + answer + ", the model says " + expected;
        }
        ShardImage image = store.image();
        ShardImage modelled = model.image();
        if (!image.equals(modelled)) {
            return "what Redis holds differs from the model:\n  " + String.join("\n  ", image.since(modelled));
        }
        long audit = get(store.jobs.audit(store.shard()));
        if (audit != model.audit()) {
            return "audit is " + audit;
        }
        List<String> broken = model.damaged ? List.of() : ShardInvariants.broken(image);
        if (!broken.isEmpty()) {
            return "invariants are broken: " + broken;
        }
        if (call instanceof ModelOp.Repeat repeat && repeat.call() == lastCall) {
            if (!lastCall.agrees(lastAnswer, answer)) {
                return "first reply was " + lastAnswer + ", that of the repeat " + answer;
            }
            if (!lastCall.repeatsChange() && !image.equals(lastImage)) {
                return "a repeat changed\n  " + String.join("\n  ", image.since(lastImage));
            }
        }
        lastCall = call;
        lastAnswer = answer;
        lastImage = image;
        return null;
    }

    /** Moves the model's clock, and ends the keys whose time is over then: the server's own clock knows nothing of it. */
    static String advance(ShardModel model, ModelOp.Advance advance, TestStore store) {
        Set<String> mortal = mortalKeys(model, store);
        String answer = advance.on(model);
        mortal.removeAll(mortalKeys(model, store));
        mortal.forEach(key -> store.redis.call("DEL", key));
        return answer;
    }

    private static Set<String> mortalKeys(ShardModel model, TestStore store) {
        Set<String> keys = new HashSet<>();
        model.ends.keySet().forEach(id -> keys.add(store.keys.end(store.shard(), id)));
        model.leases.keySet().forEach(minute -> keys.add(store.keys.lease(new BucketId(store.shard(), minute))));
        model.calls.keySet().forEach(node -> keys.add(store.keys.pops(store.shard(), Long.toString(node))));
        return keys;
    }

    /** Names of the kinds of calls in a sequence, for a line of the log. */
    static String kinds(List<ModelOp> calls) {
        return calls.stream().map(call -> call.getClass().getSimpleName()).collect(Collectors.joining(" "));
    }
}
