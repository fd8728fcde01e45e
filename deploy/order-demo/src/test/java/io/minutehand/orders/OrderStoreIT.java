package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.minutehand.core.jdbc.Transactions;
import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The tables alone: who wins, what stands in the books, and whether they notice what is wrong. */
class OrderStoreIT {
    private static final Duration LATER = Duration.ofMinutes(5);
    private static final Duration BEFORE = Duration.ofMinutes(-5);

    private PostgresSchema schema;
    private HikariDataSource database;
    private OrderStore orders;

    @BeforeEach
    void open() throws SQLException {
        schema = SharedPostgres.newSchema(OrderStoreIT.class);
        database = OrderStore.pool(schema.url(), 4, "test");
        orders = new OrderStore(database);
        for (int time = 0; time < 2; time++) {
            Transactions.run(database, OptionalInt.empty(), connection -> {
                orders.createTables(connection);
                return true;
            });
        }
    }

    @AfterEach
    void close() {
        database.close();
        schema.close();
    }

    private long order(Duration delay) throws SQLException {
        return Transactions.run(database, OptionalInt.empty(), connection -> orders.insert(connection, Item.TEA, delay))
                .id();
    }

    @Test
    void shouldLetTheFirstEndWin() throws SQLException {
        long paid = order(LATER);
        long closed = order(BEFORE);
        long paidLate = order(BEFORE);

        assertThat(orders.pay(paid)).isTrue();
        assertThat(orders.close(closed, "w")).isTrue();
        assertThat(orders.pay(paidLate))
                .as("after its time, but nobody closed it")
                .isTrue();
        for (long id : new long[] {paid, closed, paidLate, 4711}) {
            assertThat(orders.pay(id)).isFalse();
            assertThat(orders.close(id, "w")).isFalse();
        }

        assertThat(orders.find(paid).status()).isEqualTo(Order.Status.PAID);
        assertThat(orders.find(closed).status()).isEqualTo(Order.Status.CLOSED);
        assertThat(orders.find(paidLate).endedAt())
                .isAfter(orders.find(paidLate).dueAt());
        assertThat(orders.find(4711)).isNull();
        assertThat(orders.newest(2)).extracting(Order::id).containsExactly(paidLate, closed);
        assertThat(orders.balance(LATER.plus(LATER)).settled()).isTrue();
    }

    @Test
    void shouldHaveOneEndWhenManyTryAtOnce() throws Exception {
        long id = order(BEFORE);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        CountDownLatch start = new CountDownLatch(1);
        try {
            var tries = new java.util.ArrayList<Future<Boolean>>();
            for (int i = 0; i < 16; i++) {
                boolean pays = i % 2 == 0;
                tries.add(threads.submit(() -> {
                    start.await();
                    return pays ? orders.pay(id) : orders.close(id, "w");
                }));
            }
            start.countDown();
            int won = 0;
            for (Future<Boolean> one : tries) {
                won += one.get() ? 1 : 0;
            }
            assertThat(won).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
        assertThat(Sql.number(schema.url(), "SELECT count(*) FROM effects")).isEqualTo(1);
    }

    @Test
    void shouldNoticeWhatIsWrongInTheBooks() throws SQLException {
        long twice = order(LATER);
        long both = order(LATER);
        long unpaid = order(LATER);
        long late = order(BEFORE);
        orders.close(twice, "w");
        orders.close(both, "w");
        Sql.run(
                schema.url(),
                "INSERT INTO effects (order_id, what, by_whom) VALUES (" + twice + ", 'CLOSED', 'x'), (" + both
                        + ", 'PAID', 'x'), (4711, 'CLOSED', 'x')");
        Sql.run(schema.url(), "UPDATE orders SET status = 'PAID' WHERE id = " + unpaid);

        Balance balance = orders.balance(Balance.GRACE);

        assertThat(balance.created()).isEqualTo(4);
        assertThat(balance.closed()).isEqualTo(4);
        assertThat(balance.open()).isEqualTo(1);
        assertThat(balance.repeated()).isEqualTo(1);
        assertThat(balance.bothWays()).isEqualTo(1);
        assertThat(balance.contradicted())
                .as("both ways, paid without effect, effect without order")
                .isEqualTo(3);
        assertThat(balance.late()).as("order %d", late).isEqualTo(1);
        assertThat(balance.holds()).isFalse();
    }

    @Test
    void shouldLetEffectsOnlyGrow() throws SQLException {
        orders.pay(order(LATER));
        for (String change :
                new String[] {"UPDATE effects SET what = 'CLOSED'", "DELETE FROM effects", "TRUNCATE effects"}) {
            assertThatThrownBy(() -> Sql.run(schema.url(), change))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("append-only");
        }
    }
}
