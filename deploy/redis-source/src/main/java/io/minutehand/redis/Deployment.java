package io.minutehand.redis;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The ways to run Redis that tests are counted by. What is started or handed out is noted for the test that asked. */
enum Deployment {
    SINGLE,
    CLUSTER,
    SENTINEL,
    TLS;

    /** Inherited: what a test's own threads start is the test's. */
    private static final InheritableThreadLocal<Set<Deployment>> NOTES = new InheritableThreadLocal<>();

    /** Notes that the test of this thread runs on it; does nothing where nobody counts. */
    void note() {
        Set<Deployment> notes = NOTES.get();
        if (notes != null) {
            notes.add(this);
        }
    }

    /** From now on this thread, and those that it starts, note there. */
    static void noteIn(Set<Deployment> notes) {
        NOTES.set(notes);
    }

    static Set<Deployment> newNotes() {
        return ConcurrentHashMap.newKeySet();
    }
}
