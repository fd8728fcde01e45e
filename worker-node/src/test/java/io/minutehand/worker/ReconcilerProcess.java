package io.minutehand.worker;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.worker.reconcile.Reconciler;
import io.minutehand.worker.reconcile.ReconcilerSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A reconciler as a process of its own, to be killed (SIGKILL). It can be told to stand still at a point of a page for ever: it goes on renewing its
 * lease until it is killed. It is gone with this JVM, however that ends.
 */
final class ReconcilerProcess implements AutoCloseable {
    /** Pages of 300 rows, so of two batches. */
    static final ReconcilerSettings SETTINGS = ReconcilerSettings.defaults()
            .withPeriod(Duration.ofHours(1))
            .withLookAhead(Duration.ofHours(2))
            .withPageSize(300)
            .withRowsPerSecond(1_000_000)
            .withLease(Duration.ofSeconds(1));

    /** Where it stands still. */
    enum HoldAt {
        NOWHERE,
        /** While the rows of a page are read. */
        ROW,
        /** When a batch of a page was written. */
        WRITTEN,
        /** When the page and its place were written. */
        PAGE
    }

    private final JavaProcess process;

    private ReconcilerProcess(JavaProcess process) {
        this.process = process;
    }

    /** @param holdAfter which of these points it is, from 1 */
    static ReconcilerProcess start(
            String redisUri, RedisOptions redis, PostgresSchema schema, HoldAt holdAt, int holdAfter) {
        return new ReconcilerProcess(JavaProcess.start(
                "reconciler",
                ReconcilerProcess.class,
                Map.of("TEST_REDIS", redisUri, "TEST_NAMESPACE", redis.namespace(), "TEST_POSTGRES", schema.url()),
                holdAt.name(),
                Integer.toString(holdAfter)));
    }

    /** Arguments: directory for the files, where to hold, and at which of these points. */
    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        HoldAt holdAt = HoldAt.valueOf(args[1]);
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(System.getenv("TEST_POSTGRES"));
        Holder holder = new Holder(directory, holdAt, Integer.parseInt(args[2]));
        Reconciler reconciler = Reconciler.builder()
                .redis(RedisOptions.of(System.getenv("TEST_REDIS")).withNamespace(System.getenv("TEST_NAMESPACE")))
                .name("killed")
                .dataSource(database)
                .topic("orders")
                .query(LedgerTable.open())
                .job(row -> {
                    holder.at(HoldAt.ROW);
                    return LedgerTable.jobOf(row);
                })
                .settings(SETTINGS)
                .telemetry(holder)
                .onPass(report ->
                        append(directory, "passed", report.rows() + " " + report.missing() + " " + report.present()))
                .start();
        append(directory, "started", reconciler.name());
    }

    /** Stands still at the n-th of its points. */
    private static final class Holder implements Telemetry {
        private final Path directory;
        private final HoldAt at;
        private final int after;
        private int met;

        Holder(Path directory, HoldAt at, int after) {
            this.directory = directory;
            this.at = at;
            this.after = after;
        }

        void at(HoldAt here) {
            if (here == at && ++met == after) {
                append(directory, "held", here.toString());
                while (true) {
                    LockSupport.park(this);
                }
            }
        }

        @Override
        public void count(Counter counter, String topic, long events) {
            if (counter == Counter.RECONCILE_MISSING) {
                at(HoldAt.WRITTEN);
            } else if (counter == Counter.RECONCILE_ROWS) {
                at(HoldAt.PAGE);
            }
        }

        @Override
        public void lateness(String topic, long latenessUs) {}

        @Override
        public void handlerTime(String topic, long elapsedUs) {}
    }

    private static void append(Path directory, String file, String line) {
        try {
            Files.writeString(
                    directory.resolve(file),
                    line + "\n",
                    StandardCharsets.UTF_8,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean started() {
        return !process.lines("started").isEmpty();
    }

    boolean held() {
        return !process.lines("held").isEmpty();
    }

    /** Rows, missing and present of the passes that it completed. */
    List<String> passed() {
        return process.lines("passed");
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String log() {
        return process.log();
    }

    void kill() {
        process.kill();
    }

    @Override
    public void close() {
        process.close();
    }
}
