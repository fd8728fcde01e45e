package io.minutehand.orders;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.jdbc.Transactions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.Recorders;
import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.router.JobRouter;
import io.minutehand.router.outbox.JobOutbox;
import io.minutehand.router.outbox.OutboxJob;
import io.minutehand.router.outbox.OutboxRelay;
import io.minutehand.router.outbox.OutboxSettings;
import io.minutehand.router.outbox.OutboxStats;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;

/**
 * What a shop does with orders. An order and the job that will close it are written in one transaction; the job is scheduled right after the commit,
 * and by the relay if that fails or this process dies in between. Thread-safe.
 */
final class OrderService implements AutoCloseable {
    /** Creators, payers and pages at once; the outbox, its relay and the reconciler take one each. */
    private static final int POOL = 24;

    private static final OutboxSettings OUTBOX = OutboxSettings.defaults();

    private final OrderSettings settings;
    private final Steps steps;
    private final HikariDataSource database;
    private final OrderStore orders;
    private final JobRouter router;
    private final JobOutbox outbox;
    private final OutboxRelay relay;
    private final Recorders recorders = new Recorders();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Points at which a test breaks in. */
    interface Steps {
        /** Nothing happens at any of them. */
        Steps NONE = new Steps() {};

        /** Order and job are written, the transaction is open. */
        default void written(Order order) {}

        /** The transaction has committed, and nobody was told. */
        default void committed(Order order) {}
    }

    /** What became of an attempt to pay. */
    enum Payment {
        PAID,
        ALREADY_PAID,
        /** Too late: a worker was faster. */
        CLOSED,
        NO_SUCH_ORDER
    }

    private OrderService(OrderSettings settings, Steps steps, OutboxSettings outboxSettings) {
        this.settings = settings;
        this.steps = steps;
        try {
            this.database = keep(OrderStore.pool(settings.database(), POOL, "service"));
            this.orders = new OrderStore(database);
            StoreConnection connection = keep(StoreConnection.open(settings.redisOptions()));
            this.router = keep(
                    JobRouter.builder().redis(connection).telemetry(recorders).connect());
            this.outbox = keep(JobOutbox.open(router, database, outboxSettings));
            createTables();
            this.relay = keep(OutboxRelay.start(outbox));
            keep(OpenOrders.start(settings, connection, database, recorders));
        } catch (RuntimeException | Error failed) {
            close();
            throw failed;
        }
    }

    /**
     * Opens a service, and makes its tables if they are not there.
     *
     * @throws IllegalStateException when the database refuses
     * @throws io.minutehand.core.store.StoreException when Redis refuses or cannot be reached
     */
    static OrderService open(OrderSettings settings) {
        return open(settings, Steps.NONE, OUTBOX);
    }

    static OrderService open(OrderSettings settings, Steps steps, OutboxSettings outboxSettings) {
        return new OrderService(settings, steps, outboxSettings);
    }

    private void createTables() {
        try {
            Transactions.run(database, OptionalInt.empty(), connection -> {
                orders.createTables(connection);
                outbox.createTable(connection);
                return true;
            });
        } catch (SQLException e) {
            throw new IllegalStateException("The tables of the shop cannot be made: " + e.getMessage(), e);
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        opened.push(part);
        return part;
    }

    /** The tables. */
    OrderStore orders() {
        return orders;
    }

    JobRouter router() {
        return router;
    }

    /**
     * Creates an order that is closed after the delay unless it is paid.
     *
     * @throws SQLException as the database throws it; there is no order then, and no job
     */
    Order create(Item item) throws SQLException {
        record Written(Order order, OutboxJob job) {}
        Written written = Transactions.run(database, OptionalInt.empty(), connection -> {
            Order order = orders.insert(connection, item, settings.delay());
            OutboxJob job = outbox.schedule(connection, CloseOrder.TOPIC, CloseOrder.jobOf(order.id(), order.dueAt()));
            steps.written(order);
            return new Written(order, job);
        });
        steps.committed(written.order());
        // Nobody waits: if it does not succeed, the relay schedules the job.
        var unused = written.job().committed();
        return written.order();
    }

    /**
     * Pays an order; after its time, too, as long as it was not closed: the database decides.
     *
     * @throws SQLException as the database throws it
     */
    Payment pay(long orderId) throws SQLException {
        if (orders.pay(orderId)) {
            return Payment.PAID;
        }
        Order order = orders.find(orderId);
        if (order == null) {
            return Payment.NO_SUCH_ORDER;
        }
        return order.status() == Order.Status.PAID ? Payment.ALREADY_PAID : Payment.CLOSED;
    }

    /** Jobs that were scheduled right after their commit. */
    OutboxStats direct() {
        return outbox.stats();
    }

    /** Jobs that the relay of this process scheduled. */
    OutboxStats relayed() {
        return relay.stats();
    }

    /** Open orders that the reconciler found without a job while it was this process's turn. */
    long missing() {
        return recorders.counted(Counter.RECONCILE_MISSING);
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            closeQuietly(opened.pop());
        }
    }

    private static void closeQuietly(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            org.slf4j.LoggerFactory.getLogger(OrderService.class).warn("orders: closing failed part={}", part, e);
        }
    }
}
