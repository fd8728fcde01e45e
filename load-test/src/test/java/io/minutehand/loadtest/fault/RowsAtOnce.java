package io.minutehand.loadtest.fault;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs rows in short form, several at once, each on a Redis of its own. They mostly wait, so a machine of two cores has
 * room for some; tests take the results one by one.
 */
final class RowsAtOnce implements AutoCloseable {
    private final ExecutorService pool;
    private final Map<String, Future<FaultReport>> results = new HashMap<>();

    RowsAtOnce(List<FaultRow> rows, int atOnce) {
        Random seeds = new Random();
        this.pool = Executors.newFixedThreadPool(atOnce);
        for (FaultRow row : rows) {
            long seed = seeds.nextInt(Integer.MAX_VALUE);
            results.put(row.number(), pool.submit(() -> new FaultRun(row, false, seed).run()));
        }
    }

    /** Waits for the report of a row and prints it. */
    FaultReport reportOf(String number) throws Exception {
        FaultReport report = results.get(number).get();
        System.out.println(report.passed() ? report.summary() : String.join("\n", report.lines()));
        return report;
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
