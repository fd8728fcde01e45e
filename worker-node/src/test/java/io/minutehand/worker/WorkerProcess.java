package io.minutehand.worker;

import io.minutehand.core.store.Receipt;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

/**
 * A node as a process of its own, to be killed. What its handlers do stands in append-only files, which outlive it: one line a start and one an
 * end. It can be told to hold every job at a point: after the pop, inside the handler, or before the ack. See {@link ProcessUnderTest}.
 */
final class WorkerProcess {
    private static final long STATS_NS = 20_000_000;

    /** Where every job is held, for ever. */
    enum HoldAt {
        NOWHERE,
        POPPED,
        HANDLER,
        ACK
    }

    private final Path directory;
    private final HoldAt holdAt;
    private final FileChannel starts;
    private final FileChannel ends;
    private final FileChannel held;

    private WorkerProcess(Path directory, HoldAt holdAt) throws IOException {
        this.directory = directory;
        this.holdAt = holdAt;
        this.starts = open("starts");
        this.ends = open("ends");
        this.held = open("held");
    }

    /** Arguments: directory for the files, topics (by commas), "fast" or "default" settings, where to hold. The environment has Redis and the namespace. */
    public static void main(String[] args) throws IOException {
        WorkerProcess process = new WorkerProcess(Path.of(args[0]), HoldAt.valueOf(args[3]));
        RedisOptions redis =
                RedisOptions.of(System.getenv("TEST_REDIS")).withNamespace(System.getenv("TEST_NAMESPACE"));
        WorkerSettings settings = args[2].equals("fast") ? Workers.FAST : WorkerSettings.defaults();
        WorkerNode.Builder builder = WorkerNode.builder()
                .redis(redis)
                .name("process")
                .settings(settings)
                .telemetry(process.holder());
        for (String topic : args[1].split(",", -1)) {
            builder.handle(topic, process::handle);
        }
        WorkerNode node = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            node.close();
            // A JVM that ends by a signal says so in its exit status, however orderly it went.
            Runtime.getRuntime().halt(0);
        }));
        process.tellStats(node);
    }

    private void tellStats(WorkerNode node) throws IOException {
        try (FileChannel stats = open("stats")) {
            String last = "";
            while (true) {
                NodeStats now = node.stats();
                String line = "%s %b %d %d %d %d %d"
                        .formatted(
                                now.nodeId(),
                                now.ready(),
                                now.ownedShards(),
                                now.heldBuckets().size(),
                                now.counted(Telemetry.Counter.STALE),
                                now.counted(Telemetry.Counter.FENCED),
                                now.counted(Telemetry.Counter.LEASE_LOST));
                if (!line.equals(last)) {
                    append(stats, line);
                    last = line;
                }
                LockSupport.parkNanos(STATS_NS);
            }
        }
    }

    private void handle(byte[] payload, JobContext job) throws InterruptedException {
        Receipt receipt = ((Running) job).handed().receipt();
        append(
                starts,
                "%s %d %d %d %d %s"
                        .formatted(
                                job.id(),
                                job.attempt(),
                                job.delivery(),
                                job.dueAt().toEpochMilli(),
                                job.startedAt().toEpochMilli(),
                                receipt.node()));
        String what = new String(payload, StandardCharsets.UTF_8);
        if (what.equals("halt")) {
            Runtime.getRuntime().halt(9);
        } else if (what.startsWith("sleep:")) {
            Thread.sleep(Long.parseLong(what.substring("sleep:".length())));
        }
        hold(HoldAt.HANDLER);
        append(ends, job.id() + " " + job.attempt());
    }

    private void hold(HoldAt here) {
        if (holdAt == here) {
            append(held, here.toString());
            while (true) {
                LockSupport.park(this);
            }
        }
    }

    /** Measurements are taken on the handler's thread just before it starts and just after it ended: the places to hold. */
    private Telemetry holder() {
        return new Telemetry() {
            @Override
            public void count(Counter counter, String topic, long events) {}

            @Override
            public void lateness(String topic, long latenessUs) {
                hold(HoldAt.POPPED);
            }

            @Override
            public void handlerTime(String topic, long elapsedUs) {
                hold(HoldAt.ACK);
            }
        };
    }

    private FileChannel open(String file) throws IOException {
        return FileChannel.open(
                directory.resolve(file),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.APPEND);
    }

    /** One write a line, so that a kill leaves whole lines. */
    private static void append(FileChannel file, String line) {
        try {
            file.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
