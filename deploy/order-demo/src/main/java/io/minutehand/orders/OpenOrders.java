package io.minutehand.orders;

import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.worker.reconcile.PassReport;
import io.minutehand.worker.reconcile.Reconciler;
import io.minutehand.worker.reconcile.ReconcilerSettings;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reconciliation of open orders with their jobs. Service and workers start the same one, and take turns. */
final class OpenOrders {
    private static final Logger log = LoggerFactory.getLogger(OpenOrders.class);

    private static final String NAME = "open-orders";

    /** A pass over the orders of a whole run is to fit into a scan. */
    private static final int ROWS_PER_SECOND = 50_000;

    private OpenOrders() {}

    /** Starts it; {@code connection} and {@code database} stay the caller's, and are closed after it. */
    static Reconciler start(
            OrderSettings settings, StoreConnection connection, DataSource database, Telemetry telemetry) {
        return Reconciler.builder()
                .redis(connection)
                .name(NAME)
                .dataSource(database)
                .topic(CloseOrder.TOPIC)
                .query(OrderStore.openByDueTime())
                .job(row -> CloseOrder.jobOf(row.number("id"), row.instant("due_at")))
                .settings(ReconcilerSettings.defaults()
                        .withPeriod(settings.scan())
                        .withLookAhead(settings.lookAhead())
                        .withPageSize(2000)
                        .withFetchSize(1000)
                        .withRowsPerSecond(ROWS_PER_SECOND))
                .telemetry(telemetry)
                .onPass(OpenOrders::tell)
                .start();
    }

    private static void tell(PassReport report) {
        if (report.missing() > 0) {
            log.info(
                    "reconcile: jobs put back pass={} rows={} missing={} took={}ms",
                    report.pass(),
                    report.rows(),
                    report.missing(),
                    report.took().toMillis());
        }
    }
}
