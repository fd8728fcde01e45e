package io.minutehand.orders;

import io.minutehand.source.PrivateDirectory;
import io.minutehand.source.Waiting;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** The worker processes of a demo, in the order of their start. They are gone when this process is, however it ends. Thread-safe. */
final class Workers implements AutoCloseable {
    /** Workers that may run at once: more say nothing on one machine, and each takes eight connections of the database. */
    static final int MOST = 8;

    private static final int HEAP_MB = 192;

    /** Until a worker has joined: a slow machine that starts several JVMs at once. */
    private static final Duration JOIN_WITHIN = Duration.ofSeconds(60);

    private static final Duration STOP_WITHIN = Duration.ofSeconds(15);

    private final PrivateDirectory home;
    private final OrderSettings settings;
    private final List<Worker> all = new CopyOnWriteArrayList<>();

    /**
     * Without a worker yet.
     *
     * @param home where they run, and their logs are
     */
    Workers(PrivateDirectory home, OrderSettings settings) {
        this.home = home;
        this.settings = settings;
    }

    /** How a worker process is. */
    enum State {
        STARTING,
        UP,
        KILLED,
        STOPPED,
        /** Ended, and nobody had asked for it. */
        GONE
    }

    /**
     * Starts one more; does not wait until it has joined.
     *
     * @throws IllegalStateException when there are {@link #MOST}
     */
    synchronized Worker add() {
        if (alive().size() >= MOST) {
            throw new IllegalStateException("There are " + MOST + " workers already; more say nothing on one machine.");
        }
        Worker worker = new Worker("worker-" + (all.size() + 1));
        all.add(worker);
        return worker;
    }

    /**
     * Starts so many, and waits until they have joined.
     *
     * @throws IllegalStateException when one ends or does not join; the message ends with its log
     */
    void start(int count) {
        for (int i = 0; i < count; i++) {
            add();
        }
        for (Worker worker : alive()) {
            Waiting.until(
                    worker.name() + " to join",
                    JOIN_WITHIN,
                    () -> {
                        if (!worker.process.isAlive()) {
                            throw new Waiting.GaveUp(worker.name() + " ended at its start; " + worker.endOfLog());
                        }
                        return worker.state() == State.UP;
                    },
                    worker::endOfLog);
        }
    }

    /**
     * Kills (SIGKILL) the worker that has most to lose: handlers that run, buckets that it holds.
     *
     * @return which one, or empty when none is up
     */
    synchronized Optional<Worker> kill() {
        Optional<Worker> victim = all.stream()
                .filter(worker -> worker.state() == State.UP)
                .max(Comparator.comparingInt((Worker worker) -> worker.status().running())
                        .thenComparingInt(worker -> worker.status().held()));
        victim.ifPresent(Worker::kill);
        return victim;
    }

    /** All that were started, also those that have ended. */
    List<Worker> all() {
        return all;
    }

    private List<Worker> alive() {
        return all.stream().filter(worker -> worker.process.isAlive()).toList();
    }

    /** Open orders that reconcilers of workers found without a job, also those of workers that are gone. */
    long missing() {
        return all.stream().mapToLong(worker -> worker.status().missing()).sum();
    }

    /** Tells all to stop, and waits for it; what does not stop is killed. */
    @Override
    public synchronized void close() {
        List<Worker> alive = alive();
        alive.forEach(Worker::tellToStop);
        long deadlineNs = System.nanoTime() + STOP_WITHIN.toNanos();
        alive.forEach(worker -> worker.awaitEnd(deadlineNs));
    }

    /** One worker process. */
    final class Worker {
        private final String name;
        private final Process process;
        private final BufferedWriter input;
        private volatile WorkerStatus status = WorkerStatus.NONE;
        private volatile boolean killed;
        private volatile boolean toldToStop;

        private Worker(String name) {
            this.name = name;
            ProcessBuilder builder = new ProcessBuilder(command(name))
                    .redirectError(home.path().resolve(name + ".err.log").toFile());
            builder.environment().putAll(settings.toEnvironment());
            this.process = home.start(builder);
            this.input = process.outputWriter(StandardCharsets.UTF_8);
            Thread reader = new Thread(this::read, "output-of-" + name);
            reader.setDaemon(true);
            reader.start();
        }

        String name() {
            return name;
        }

        long pid() {
            return process.pid();
        }

        WorkerStatus status() {
            return status;
        }

        State state() {
            if (killed) {
                return State.KILLED;
            }
            if (!process.isAlive()) {
                return toldToStop ? State.STOPPED : State.GONE;
            }
            return status == WorkerStatus.NONE ? State.STARTING : State.UP;
        }

        /** As {@code kill -9} does; returns when it is gone. */
        void kill() {
            killed = true;
            process.destroyForcibly();
            process.onExit().join();
        }

        private void tellToStop() {
            toldToStop = true;
            try {
                input.write("stop\n");
                input.flush();
            } catch (IOException e) {
                // Gone already.
            }
        }

        private void awaitEnd(long deadlineNs) {
            try {
                if (!process.waitFor(Math.max(1, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                process.destroyForcibly();
            }
        }

        private String endOfLog() {
            return home.endOf(name + ".err.log");
        }

        private void read() {
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    WorkerStatus said = WorkerStatus.ofLine(line);
                    if (said != null) {
                        status = said;
                    }
                }
            } catch (IOException e) {
                // Killed: its pipe is gone, and so is all that it could say.
            }
        }
    }

    /** The simple collector and compiler leave the cores to the work: several JVMs share them, and none runs for long. */
    private List<String> command(String name) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + HEAP_MB + "m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto"));
        if (Runtime.version().feature() >= 24) {
            // Netty's native code and Unsafe; the manifest that allows them is not read with -cp.
            command.add("--enable-native-access=ALL-UNNAMED");
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        command.addAll(List.of(
                "-cp",
                absoluteClassPath(),
                OrderWorker.class.getName(),
                name,
                home.path().resolve(name + ".log").toString()));
        return command;
    }

    static String absoluteClassPath() {
        String separator = System.getProperty("path.separator");
        return String.join(
                separator,
                Pattern.compile(Pattern.quote(separator))
                        .splitAsStream(System.getProperty("java.class.path"))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }
}
