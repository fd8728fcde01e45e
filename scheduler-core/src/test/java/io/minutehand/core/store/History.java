package io.minutehand.core.store;

import io.minutehand.core.store.EventLog.Event;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Whether calls that were made at once answered as if they had been made one after the other: linearizability (Herlihy and Wing, 1990). In
 * general the order must be searched for; here the server tells it, so one pass over its log does, against the model.
 *
 * <p>A call takes effect with its last script. Its place in the log must lie between its call and its return: so none may come behind one that was
 * called only after it had returned.
 */
final class History {
    /**
     * A call as its caller saw it.
     *
     * @param calledNs nanoTime before
     * @param returnedNs nanoTime after
     */
    record Sent(ModelOp call, String answer, long calledNs, long returnedNs) {}

    private final ShardModel model;
    private final List<ModelOp> order = new ArrayList<>();
    private final Map<String, Integer> answers = new TreeMap<>();
    private int events;
    private int overtaken;

    History(ShardModel model) {
        this.model = model;
    }

    /** Calls in the order of the log so far, moves of the clock among them. */
    List<ModelOp> order() {
        return List.copyOf(order);
    }

    int events() {
        return events;
    }

    /** Calls that came behind one that was called later: where nothing happens at once there are none. */
    int overtaken() {
        return overtaken;
    }

    /** How often which script answered what, in short. */
    Map<String, Integer> answers() {
        return answers;
    }

    /** Takes note of a move of the clock while nobody called. */
    void advanced(ModelOp.Advance advance) {
        order.add(advance);
    }

    /**
     * Replays the log.
     *
     * @param log what the server ran, in order
     * @param sent what each process sent, in its order
     * @return what differs first
     */
    Optional<String> replay(List<Event> log, Map<Integer, List<Sent>> sent) {
        Map<Integer, Iterator<Sent>> left = new TreeMap<>();
        Map<Integer, Sent> current = new TreeMap<>();
        sent.forEach((process, calls) -> left.put(process, calls.iterator()));
        Sent latest = null;
        for (Event event : log) {
            events++;
            if (event.nowMs() != model.now) {
                ModelOp.Advance advance = new ModelOp.Advance(event.nowMs());
                advance.on(model);
                order.add(advance);
            }
            Iterator<Sent> calls = left.get(event.process());
            if (!current.containsKey(event.process()) && calls.hasNext()) {
                current.put(event.process(), calls.next());
            }
            Sent call = current.get(event.process());
            if (call == null || call.call().script() != event.script()) {
                return Optional.of(event + " ran, but its process called " + call);
            }
            if (event.reply().get(0).equals("ELSEWHERE")) {
                count(event.script() + " ELSEWHERE");
                Optional<String> wrong = elsewhere(event);
                if (wrong.isPresent()) {
                    return wrong;
                }
                continue;
            }
            current.remove(event.process());
            order.add(call.call());
            count(event.script() + " " + shortened(call.answer()));
            String expected = call.call().on(model);
            if (!expected.equals(call.answer())) {
                return Optional.of("reply is " + call.answer() + ", the model says " + expected + "; " + event);
            }
            if (latest != null && call.returnedNs() - latest.calledNs() < 0) {
                return Optional.of(call.call() + " returned " + (latest.calledNs() - call.returnedNs()) + " ns before "
                        + latest.call() + " was called, and yet ran after it; " + event);
            }
            if (latest != null && latest.calledNs() - call.calledNs() > 0) {
                overtaken++;
            } else {
                latest = call;
            }
        }
        return unserved(left, current);
    }

    private static Optional<String> unserved(Map<Integer, Iterator<Sent>> left, Map<Integer, Sent> current) {
        List<ModelOp> calls = new ArrayList<>();
        current.values().forEach(call -> calls.add(call.call()));
        left.values().forEach(rest -> rest.forEachRemaining(call -> calls.add(call.call())));
        return calls.isEmpty() ? Optional.empty() : Optional.of("answered, but no script ran: " + calls);
    }

    /** A cancel or reschedule that looked into the wrong bucket: the job waits, and where the script said. */
    private Optional<String> elsewhere(Event event) {
        String member = event.args().get(0);
        String asked = event.args().get(1);
        String told = event.reply().get(2);
        boolean agrees = model.jobs.values().stream()
                .filter(job -> job.state == 'P' && job.member().equals(member))
                .anyMatch(job -> Long.toString(job.minute).equals(told) && !told.equals(asked));
        return agrees ? Optional.empty() : Optional.of("the model does not agree: " + event);
    }

    private void count(String answer) {
        answers.merge(answer, 1, Integer::sum);
    }

    /** The kind of an answer: statuses, and whether jobs came with it. */
    private static String shortened(String answer) {
        if (answer.startsWith("OK next=")) {
            return answer.indexOf(' ', 3) > 0 ? "OK with jobs" : "OK";
        }
        return answer.replaceAll("[^A-Za-z ]", "").strip();
    }
}
