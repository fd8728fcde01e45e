package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.postgres.PostgresSchema;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.worker.reconcile.PageReader.Page;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Pages of a real PostgreSQL. */
class PageReaderIT {
    private static final int ROWS = 60;
    private static final ReconcilerSettings SETTINGS =
            ReconcilerSettings.defaults().withPageSize(7).withFetchSize(3);
    private static final String ALL = "SELECT * FROM things";

    private static PostgresSchema schema;
    private static DataSource database;

    @BeforeAll
    static void fill() throws SQLException {
        schema = SharedPostgres.newSchema(PageReaderIT.class);
        database = schema.dataSource();
        run(
                "CREATE TABLE things (id bigint PRIMARY KEY, small smallint, code text, price numeric(12, 3), ref uuid,"
                        + " day date, made timestamp, due timestamptz, maybe int)",
                // Keys whose order is not that of the rows, and many rows of one day, hour and code.
                "INSERT INTO things SELECT (n * 37) % 61, n % 5, 'c' || n % 7, (n * 37 % 61) / 8.0,"
                        + " md5(n::text)::uuid, date '2024-01-01' + n % 3,"
                        + " timestamp '2024-01-01 00:00:00.123456' + n % 4 * interval '1 hour',"
                        + " timestamptz '2024-01-01 00:00:00.123456+00' + n % 4 * interval '1 microsecond',"
                        + " CASE WHEN n = 59 THEN NULL ELSE n END FROM generate_series(1, " + ROWS + ") n");
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    private static void run(String... statements) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static PageReader reader(RowQuery query) {
        return new PageReader(database, query, SETTINGS);
    }

    /** All rows, page by page, by their ids. */
    private static List<Long> readAll(RowQuery query, List<Integer> pages) throws SQLException {
        PageReader reader = reader(query);
        List<Long> ids = new ArrayList<>();
        List<String> after = null;
        while (true) {
            Page page = reader.read(after, Instant.EPOCH, (row, key) -> {
                ids.add(number(row, "id"));
                return 0;
            });
            pages.add(page.rows());
            if (!page.more()) {
                return ids;
            }
            after = page.last();
        }
    }

    private static long number(Row row, String column) {
        try {
            return row.number(column);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static Stream<Arguments> keys() {
        KeyColumn<Long> id = KeyColumn.number("id");
        return Stream.of(
                Arguments.of("number", RowQuery.of(ALL, id)),
                Arguments.of("limited otherwise", RowQuery.of(ALL, id).limitedBy(RowQuery.RowLimit.LIMIT)),
                Arguments.of("a comment at the end", RowQuery.of(ALL + " -- all", id)),
                Arguments.of("smallint", RowQuery.of(ALL, KeyColumn.number("small"), id)),
                Arguments.of("text", RowQuery.of(ALL, KeyColumn.text("code"), id)),
                Arguments.of("decimal", RowQuery.of(ALL, KeyColumn.decimal("price"))),
                Arguments.of("uuid", RowQuery.of(ALL, KeyColumn.uuid("ref"))),
                Arguments.of("date", RowQuery.of(ALL, KeyColumn.date("day"), id)),
                Arguments.of("timestamp", RowQuery.of(ALL, KeyColumn.timestamp("made"), id)),
                Arguments.of("instant", RowQuery.of(ALL, KeyColumn.timestampWithTimeZone("due"), id)),
                Arguments.of(
                        "four columns",
                        RowQuery.of(ALL, KeyColumn.date("day"), KeyColumn.text("code"), KeyColumn.number("small"), id)),
                Arguments.of(
                        "parameters",
                        RowQuery.of("SELECT id FROM things WHERE due > ? AND code <> ?", id)
                                .parameters(until -> List.of(until.atOffset(ZoneOffset.UTC), "none"))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keys")
    void shouldReadEachRowOnceByKeysOfAnyKind(String kind, RowQuery query) throws SQLException {
        List<Integer> pages = new ArrayList<>();

        List<Long> ids = readAll(query, pages);

        assertThat(ids).hasSize(ROWS).doesNotHaveDuplicates();
        assertThat(pages).as("60 = 8 * 7 + 4").hasSize(9).startsWith(7, 7, 7).endsWith(4);
    }

    @Test
    void shouldReadTheRowsInTheOrderOfTheKey() throws SQLException {
        assertThat(readAll(RowQuery.of(ALL, KeyColumn.number("id")), new ArrayList<>()))
                .isSorted();
    }

    @Test
    void shouldSayThatThereIsNothing() throws SQLException {
        RowQuery none = RowQuery.of(ALL + " WHERE id > 1000", KeyColumn.number("id"));

        assertThat(reader(none).read(null, Instant.EPOCH, (row, key) -> 0)).isEqualTo(new Page(0, null, false));
        assertThat(reader(none).read(List.of("5"), Instant.EPOCH, (row, key) -> 0))
                .as("the place stays")
                .isEqualTo(new Page(0, List.of("5"), false));
    }

    @Test
    void shouldRefuseKeysThatAreNotUniqueAlsoAcrossTheEndOfAPage() {
        assertThatThrownBy(() -> readAll(RowQuery.of(ALL, KeyColumn.text("code")), new ArrayList<>()))
                .isInstanceOf(UnusableQueryException.class)
                .hasMessageContaining("[code] are not unique")
                .hasMessageContaining("[c0]");
        // Six different ones, then two alike: the first page ends between them.
        RowQuery border =
                RowQuery.of("SELECT id, least(id, 7) AS k FROM things WHERE id BETWEEN 1 AND 8", KeyColumn.number("k"));
        assertThatThrownBy(() -> readAll(border, new ArrayList<>()))
                .isInstanceOf(UnusableQueryException.class)
                .hasMessageContaining("[7]");
    }

    @Test
    void shouldRefuseAKeyThatIsNullWhereverThatRowStands() {
        for (String column : List.of("maybe", "maybe, id", "day, maybe")) {
            KeyColumn<?>[] keys = java.util.Arrays.stream(column.split(", "))
                    .map(name -> name.equals("day") ? KeyColumn.date(name) : KeyColumn.number(name))
                    .toArray(KeyColumn[]::new);
            RowQuery query = RowQuery.of(ALL, keys[0], java.util.Arrays.copyOfRange(keys, 1, keys.length));
            List<Integer> pages = new ArrayList<>();

            assertThatThrownBy(() -> readAll(query, pages))
                    .as("nulls come last, behind the last page that would be read")
                    .isInstanceOf(UnusableQueryException.class)
                    .hasMessageContaining("null in some rows");
            assertThat(pages).isEmpty();
        }
    }

    @Test
    void shouldRefuseAKeyThatBecomesNullLater() throws SQLException {
        RowQuery query = RowQuery.of(
                        "SELECT id, CASE WHEN id > ? THEN NULL ELSE id END AS k FROM things", KeyColumn.number("k"))
                .parameters(until -> List.of(until.getEpochSecond()));
        PageReader reader = reader(query);

        assertThat(reader.read(null, Instant.ofEpochSecond(100), (row, key) -> 0)
                        .rows())
                .isEqualTo(7);
        assertThatThrownBy(() -> reader.read(null, Instant.ofEpochSecond(3), (row, key) -> 0))
                .isInstanceOf(UnusableQueryException.class)
                .hasMessageContaining("key column k is null");
    }

    @Test
    void shouldEndAPageThatHoldsMuchOrTakesLong() throws SQLException {
        RowQuery query = RowQuery.of(ALL, KeyColumn.number("id"));

        Page heavy = reader(query).read(null, Instant.EPOCH, (row, key) -> PageReader.PAGE_BYTES / 2);
        assertThat(heavy.rows()).isEqualTo(2);
        assertThat(heavy.more()).isTrue();

        Page slow = new PageReader(database, query, SETTINGS, 0).read(null, Instant.EPOCH, (row, key) -> 0);
        assertThat(slow.rows()).as("one at least, or it would never go on").isEqualTo(1);
        assertThat(slow.more()).isTrue();
    }

    @Test
    void shouldLendAConnectionThatCannotWriteAndGiveItBackAsItWas() throws SQLException {
        try (Connection lent = database.getConnection()) {
            lent.setAutoCommit(true);
            DataSource pool = poolOf(lent);
            RowQuery query = RowQuery.of(
                    "SELECT id, current_setting('transaction_read_only') AS read_only FROM things",
                    KeyColumn.number("id"));
            HashSet<String> modes = new HashSet<>();

            new PageReader(pool, query, SETTINGS).read(null, Instant.EPOCH, (row, key) -> {
                modes.add(text(row, "read_only"));
                return 0;
            });
            assertThatThrownBy(() -> new PageReader(pool, query, SETTINGS).read(null, Instant.EPOCH, (row, key) -> {
                        throw new IllegalStateException("planned");
                    }))
                    .hasMessage("planned");

            assertThat(modes).containsExactly("on");
            assertThat(lent.isReadOnly()).isFalse();
            assertThat(lent.getAutoCommit()).isTrue();
        }
    }

    private static String text(Row row, String column) {
        try {
            return row.text(column);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldRefuseAKeyThatTheDatabaseCannotCompareAlsoWhenAllRowsAreOnOnePage() {
        RowQuery query = RowQuery.of(ALL + " WHERE id = 1", KeyColumn.text("ref"));
        assertThatThrownBy(() -> reader(query).read(null, Instant.EPOCH, (row, key) -> 0))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("uuid > ");
    }

    @Test
    void shouldRefuseAKeyThatLosesAPartOfItsValueBeforeAPageEndsThereForEver() throws SQLException {
        RowQuery query = RowQuery.of("SELECT * FROM things WHERE price IN (1.125, 2.125)", KeyColumn.number("price"));
        PageReader one = new PageReader(database, query, SETTINGS.withPageSize(1));
        Page page = one.read(null, Instant.EPOCH, (row, key) -> 0);
        assertThatThrownBy(() -> one.read(page.last(), Instant.EPOCH, (row, key) -> 0))
                .isInstanceOf(UnusableQueryException.class)
                .hasMessageContaining("price")
                .hasMessageContaining("lose a part");
    }

    /** Lends this connection, which stays open. */
    private static DataSource poolOf(Connection connection) {
        Connection lent = (Connection) Proxy.newProxyInstance(
                PageReaderIT.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                        method.getName().equals("close") ? null : method.invoke(connection, arguments));
        return (DataSource) Proxy.newProxyInstance(
                PageReaderIT.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> lent);
    }

    @Test
    void shouldGiveUpAQueryThatTakesTooLongOrIsCancelled() {
        RowQuery slow = RowQuery.of("SELECT id, pg_sleep(60) FROM things", KeyColumn.number("id"));
        PageReader impatient = new PageReader(database, slow, SETTINGS.withQueryTimeout(Duration.ofSeconds(1)));

        long beganNs = System.nanoTime();
        assertThatThrownBy(() -> impatient.read(null, Instant.EPOCH, (row, key) -> 0))
                .isInstanceOf(SQLException.class);
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNs)).isLessThan(30);

        PageReader patient = new PageReader(database, slow, SETTINGS.withQueryTimeout(Duration.ofSeconds(20)));
        CompletableFuture<Page> reading = CompletableFuture.supplyAsync(() -> {
            try {
                return patient.read(null, Instant.EPOCH, (row, key) -> 0);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        org.awaitility.Awaitility.await("the query is cancelled")
                .atMost(Duration.ofSeconds(15))
                .until(() -> {
                    patient.cancel();
                    return reading.isCompletedExceptionally();
                });
    }

    @Test
    void shouldNotLetARowBeReadLater() throws SQLException {
        List<Row> kept = new ArrayList<>();
        reader(RowQuery.of(ALL, KeyColumn.number("id"))).read(null, Instant.EPOCH, (row, key) -> {
            kept.add(row);
            return 0;
        });

        assertThatThrownBy(() -> kept.get(0).number("id")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldTellNullsFromValues() throws SQLException {
        RowQuery one = RowQuery.of(ALL + " WHERE maybe IS NULL", KeyColumn.number("id"));
        reader(one).read(null, Instant.EPOCH, (row, key) -> {
            assertThatThrownBy(() -> row.number("maybe"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("column maybe is null");
            try {
                assertThat(row.isNull("maybe")).isTrue();
                assertThat(row.isNull("due")).isFalse();
                assertThat(row.get("maybe", Integer.class)).isNull();
                assertThat(row.instant("due").getNano() / 1000).isBetween(123_456, 123_460);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return 0;
        });
    }
}
