package io.minutehand.redis;

import io.minutehand.source.SourceKind;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The ways to run Redis, and the sources of PostgreSQL, that tests are counted by. What is started or handed out is noted for the test that asked.
 */
public enum Deployment {
    /** A single Redis. */
    SINGLE,
    /** A Redis Cluster. */
    CLUSTER,
    /** Redis with Sentinel. */
    SENTINEL,
    /** Redis over TLS. */
    TLS,
    /** A PostgreSQL that runs already. */
    POSTGRES_ADDRESS,
    /** PostgreSQL in a container. */
    POSTGRES_DOCKER,
    /** The installed PostgreSQL. */
    POSTGRES_PATH,
    /** The embedded PostgreSQL. */
    POSTGRES_EMBEDDED;

    /** Inherited: what a test's own threads start is the test's. */
    private static final InheritableThreadLocal<Set<Deployment>> NOTES = new InheritableThreadLocal<>();

    /** The one of a PostgreSQL of this kind. */
    public static Deployment ofPostgres(SourceKind kind) {
        return switch (kind) {
            case ADDRESS -> POSTGRES_ADDRESS;
            case DOCKER -> POSTGRES_DOCKER;
            case PATH -> POSTGRES_PATH;
            case EMBEDDED -> POSTGRES_EMBEDDED;
        };
    }

    /** Notes that the test of this thread runs on it; does nothing where nobody counts. */
    public void note() {
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
