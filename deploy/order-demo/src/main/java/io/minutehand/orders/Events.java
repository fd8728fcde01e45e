package io.minutehand.orders;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** What was done to a demo, the newest last, as far as memory goes. Thread-safe. */
final class Events {
    private static final int MOST = 100;

    /**
     * Something that happened.
     *
     * @param at by the clock of this process
     * @param what one line
     */
    record Event(Instant at, String what) {}

    private final Consumer<String> listener;
    private final Deque<Event> events = new ArrayDeque<>();

    /** Also told to a listener, on the thread of whoever adds. */
    Events(Consumer<String> listener) {
        this.listener = listener;
    }

    void add(String what) {
        synchronized (this) {
            events.addLast(new Event(Instant.now(), what));
            if (events.size() > MOST) {
                events.removeFirst();
            }
        }
        listener.accept(what);
    }

    synchronized List<Event> all() {
        return List.copyOf(events);
    }
}
