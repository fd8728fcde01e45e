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
 *
 * <p>A run in which the fault did not strike as it should, or a time was missed on a machine that does much else, says little:
 * the row gets a second run, and that one counts. What the ledger says is final: a job lost, early, or run after its end
 * fails at once.
 */
final class RowsAtOnce implements AutoCloseable {
    private final List<FaultRow> rows;
    private final Random seeds = new Random();
    private final ExecutorService pool;
    private final Map<String, Future<FaultReport>> results = new HashMap<>();

    RowsAtOnce(List<FaultRow> rows, int atOnce) {
        this.rows = List.copyOf(rows);
        this.pool = Executors.newFixedThreadPool(atOnce);
        for (FaultRow row : rows) {
            long seed = seeds.nextInt(Integer.MAX_VALUE);
            results.put(row.number(), pool.submit(() -> new FaultRun(row, false, seed).run()));
        }
    }

    /** Waits for the report of a row and prints it; of the second run, if there had to be one. */
    FaultReport reportOf(String number) throws Exception {
        FaultReport report = printed(results.get(number).get());
        if (report.passed() || !report.ledgerHolds()) {
            return report;
        }
        FaultRow row = rows.stream()
                .filter(candidate -> candidate.number().equals(number))
                .findFirst()
                .orElseThrow();
        System.out.println("row " + number + " runs again");
        return printed(pool.submit(() -> new FaultRun(row, false, seeds.nextInt(Integer.MAX_VALUE)).run())
                .get());
    }

    private static FaultReport printed(FaultReport report) {
        System.out.println((report.passed() ? report.summary() : String.join("\n", report.lines())));
        return report;
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
