package io.minutehand.loadtest.demo;

import io.minutehand.redis.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Stream;

/** The worker processes of a demo, in the order of their start. */
final class Fleet {
    /** Until a worker has joined: a slow machine that starts several JVMs at once. */
    private static final long READY_NS = 60_000_000_000L;

    /** Until a worker that was told to stop is gone. */
    private static final long STOP_MS = 20_000;

    private final PrivateDirectory home;
    private final Path workDir;
    private final Map<String, String> environment;
    private final Function<String, List<String>> arguments;
    private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
    private final Set<String> killed = new HashSet<>();
    private final ConcurrentLinkedQueue<WorkerProcess> unasked = new ConcurrentLinkedQueue<>();

    /**
     * Makes a fleet without workers.
     *
     * @param home where they run
     * @param workDir where their logs go
     * @param environment what they get beyond the variables of this process
     * @param arguments those of the worker with a name
     */
    Fleet(
            PrivateDirectory home,
            Path workDir,
            Map<String, String> environment,
            Function<String, List<String>> arguments) {
        this.home = home;
        this.workDir = workDir;
        this.environment = environment;
        this.arguments = arguments;
    }

    /** Starts one more worker; does not wait until it has joined. */
    WorkerProcess add() {
        String name = "node-" + (workers.size() + 1);
        WorkerProcess worker = WorkerProcess.start(
                name, home, environment, arguments.apply(name), workDir.resolve(name + ".err.log"), unasked::add);
        workers.add(worker);
        return worker;
    }

    /**
     * Makes sure that all workers may still join.
     *
     * @param elapsedNs since they were started
     * @throws IllegalStateException if one has ended, or has not joined in time
     */
    void requireAllStarting(long elapsedNs) {
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

    List<WorkerProcess> workers() {
        return workers;
    }

    /** Returns the workers that are alive and have joined. */
    List<WorkerProcess> ready() {
        return workers.stream()
                .filter(worker -> worker.isAlive() && worker.nodeId() != null)
                .toList();
    }

    /** Remembers that a worker was killed on purpose. */
    void killed(WorkerProcess worker) {
        killed.add(worker.name());
    }

    /** Returns a word for how a worker is. */
    String state(WorkerProcess worker) {
        if (killed.contains(worker.name())) {
            return "killed";
        }
        if (!worker.isAlive()) {
            return worker.wasToldToEnd() ? "left" : "gone";
        }
        return worker.nodeId() == null ? "starting" : Snapshot.Node.UP;
    }

    /** Returns the workers that ended without being told to, each once. */
    List<WorkerProcess> endedUnasked() {
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
    List<String> stop() throws InterruptedException {
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
