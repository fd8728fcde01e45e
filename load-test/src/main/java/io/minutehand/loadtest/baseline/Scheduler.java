package io.minutehand.loadtest.baseline;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** A scheduler that can be measured: what its producers do, and what its workers do. */
public enum Scheduler {
    /** The product: router and worker nodes with their default settings. */
    MINUTEHAND("minutehand") {
        @Override
        public Sender sender(Target target) {
            return MinutehandScheduler.sender(target);
        }

        @Override
        public AutoCloseable worker(Target target, String name, Consumer<byte[]> handler) {
            return MinutehandScheduler.worker(target, name, handler);
        }
    },

    /** One sorted set, a Lua script that pops one job, and 200 ms of sleep when nothing is due. */
    SINGLE_ZSET("single-zset") {
        @Override
        public Sender sender(Target target) {
            return new ZsetSender(target);
        }

        @Override
        public AutoCloseable worker(Target target, String name, Consumer<byte[]> handler) {
            return ZsetWorker.popsOne(target, name, handler);
        }
    },

    /** The same sorted set, popped in batches of 100 by a worker that sleeps until the next job is due. */
    ZSET_TUNED("zset-tuned") {
        @Override
        public Sender sender(Target target) {
            return new ZsetSender(target);
        }

        @Override
        public AutoCloseable worker(Target target, String name, Consumer<byte[]> handler) {
            return ZsetWorker.popsBatches(target, name, handler);
        }
    },

    /** Redisson's delayed queue, its jobs taken by blocking threads. It does not acknowledge: a crash loses what was taken. */
    RDELAYEDQUEUE("rdelayedqueue") {
        @Override
        public Sender sender(Target target) {
            return new DelayedQueueScheduler.Producer(target);
        }

        @Override
        public AutoCloseable worker(Target target, String name, Consumer<byte[]> handler) {
            return new DelayedQueueScheduler.Worker(target, name, handler);
        }
    };

    private final String label;

    Scheduler(String label) {
        this.label = label;
    }

    /** Its name on the command line and in reports. */
    public String label() {
        return label;
    }

    /** Opens a producer's side. Close it. */
    public abstract Sender sender(Target target);

    /**
     * Opens a worker's side, which calls the handler with each due job's payload, on threads of its own, until it is
     * closed.
     *
     * @param name of the worker
     */
    public abstract AutoCloseable worker(Target target, String name, Consumer<byte[]> handler);

    /**
     * The scheduler with a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Scheduler named(String label) {
        return Arrays.stream(values())
                .filter(scheduler -> scheduler.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no scheduler " + label + ", only " + String.join(", ", labels())));
    }

    /** The names of all. */
    public static List<String> labels() {
        return Arrays.stream(values()).map(Scheduler::label).toList();
    }

    /**
     * Where jobs go.
     *
     * @param redis address with credentials
     * @param namespace prefix of all keys
     * @param shards of the topic, for a scheduler that has them
     * @param slots handlers at once in a worker
     */
    public record Target(String redis, String namespace, int shards, int slots) {
        /** The topic of all jobs. */
        public static final String TOPIC = "lab";

        /** Name of a key of this namespace. */
        String key(String name) {
            return namespace + ":" + name;
        }

        @Override
        public String toString() {
            return "namespace=" + namespace + " shards=" + shards + " slots=" + slots;
        }
    }

    /** A job to be stored; see {@link Sender#send}. */
    public record Order(String id, byte[] payload, long dueUs) {}

    /** A producer's side. Thread-safe. */
    public interface Sender extends AutoCloseable {
        /**
         * Hands one job over without waiting for the answer; may block while too many have none.
         *
         * @param id of 20 characters
         * @param dueUs epoch microseconds, whole milliseconds
         * @param answered told once, on any thread, whether the job was stored
         */
        void send(String id, byte[] payload, long dueUs, Consumer<Boolean> answered);

        /**
         * Hands many jobs over in the way that is best for many, and waits for the answers.
         *
         * @return how many were stored
         */
        long sendAll(List<Order> orders);

        @Override
        void close();
    }

    /** Waits for the end of a thread that was told to end; an interrupt of the caller is kept for later. */
    static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
