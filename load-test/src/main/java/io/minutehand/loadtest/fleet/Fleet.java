package io.minutehand.loadtest.fleet;

import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** The worker processes of a run, in the order of their start. Not thread-safe, except where it says so. */
public final class Fleet {
    /** The word for a worker that is a member. */
    public static final String UP = "up";

    /** Until a worker has joined: a slow machine that starts several JVMs at once. */
    private static final long READY_NS = 60_000_000_000L;

    /** Until a worker that was told to stop is gone. */
    private static final long STOP_MS = 20_000;

    private final PrivateDirectory home;
    private final Path workDir;
    private final WorkerProcess.Kind kind;
    private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
    private final Set<String> killed = new HashSet<>();
    private final ConcurrentLinkedQueue<WorkerProcess> unasked = new ConcurrentLinkedQueue<>();

    /**
     * Makes a fleet without workers.
     *
     * @param home where they run
     * @param workDir where their logs go
     * @param kind how they are started
     */
    public Fleet(PrivateDirectory home, Path workDir, WorkerProcess.Kind kind) {
        this.home = home;
        this.workDir = workDir;
        this.kind = kind;
    }

    /** Starts one more worker; does not wait until it has joined. */
    public WorkerProcess add() {
        String name = "node-" + (workers.size() + 1);
        WorkerProcess worker = WorkerProcess.start(name, home, kind, workDir.resolve(name + ".err.log"), unasked::add);
        workers.add(worker);
        return worker;
    }

    /**
     * Makes sure that all workers may still join.
     *
     * @param elapsedNs since they were started
     * @throws IllegalStateException if one has ended, or has not joined in time
     */
    public void requireAllStarting(long elapsedNs) {
        for (WorkerProcess worker : workers) {
            if (!worker.isAlive() || (worker.nodeId() == null && elapsedNs > READY_NS)) {
                throw new IllegalStateException(worker.name()
                        + (worker.isAlive()
                                ? " did not join within " + READY_NS / 1_000_000_000 + " s"
                                : " ended at its start")
                        + "; its log says: " + lastLine(worker));
            }
        }
    }

    /** What a worker said last: of a stack trace the root cause, which is the last line that is not indented. */
    private String lastLine(WorkerProcess worker) {
        for (String suffix : List.of(".err.log", ".log")) {
            try (Stream<String> lines = Files.lines(workDir.resolve(worker.name() + suffix))) {
                Optional<String> last = lines.filter(line -> !line.isBlank() && !Character.isWhitespace(line.charAt(0)))
                        .reduce((before, after) -> after);
                if (last.isPresent()) {
                    return last.get();
                }
            } catch (IOException e) {
                // It did not come as far as a log.
            }
        }
        return "nothing";
    }

    /** Returns all workers that were started. From any thread. */
    public List<WorkerProcess> workers() {
        return workers;
    }

    /** Returns the workers that are alive and have joined. From any thread. */
    public List<WorkerProcess> ready() {
        return workers.stream()
                .filter(worker -> worker.isAlive() && worker.nodeId() != null)
                .toList();
    }

    /** Remembers that a worker was killed on purpose. */
    public void killed(WorkerProcess worker) {
        killed.add(worker.name());
    }

    /** Returns a word for how a worker is. */
    public String state(WorkerProcess worker) {
        if (killed.contains(worker.name())) {
            return "killed";
        }
        if (!worker.isAlive()) {
            return worker.wasToldToEnd() ? "left" : "gone";
        }
        return worker.nodeId() == null ? "starting" : UP;
    }

    /** Returns the workers that ended without being told to, each once. */
    public List<WorkerProcess> endedUnasked() {
        List<WorkerProcess> ended = new ArrayList<>();
        for (WorkerProcess worker = unasked.poll(); worker != null; worker = unasked.poll()) {
            ended.add(worker);
        }
        return ended;
    }

    /**
     * Tells all workers to stop and waits for them; kills those that do not.
     *
     * @return what went wrong, one sentence each
     */
    public List<String> stop() throws InterruptedException {
        List<String> problems = new ArrayList<>();
        List<WorkerProcess> alive =
                workers.stream().filter(WorkerProcess::isAlive).toList();
        alive.forEach(WorkerProcess::stop);
        long deadlineNs = System.nanoTime() + STOP_MS * 1_000_000;
        for (WorkerProcess worker : alive) {
            Integer status = worker.awaitEnd(Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000));
            if (status == null) {
                worker.kill();
                problems.add(worker.name() + " did not stop within " + STOP_MS / 1_000 + " s and was killed");
            } else if (status != 0) {
                problems.add(worker.name() + " stopped with exit status " + status);
            }
        }
        return problems;
    }
}
