package io.minutehand.worker.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowQueryTest {
    private static final String SELECT = "SELECT id, due_at FROM orders WHERE open";

    @Test
    void shouldReadTheFirstPageFromTheBeginning() {
        assertThat(RowQuery.of(SELECT, KeyColumn.number("id")).sql(false, 501))
                .isEqualTo("SELECT * FROM (\n" + SELECT
                        + "\n) minutehand_rows ORDER BY minutehand_rows.id FETCH FIRST 501 ROWS ONLY");
    }

    @Test
    void shouldReadFurtherPagesBehindTheKeyAndLimitThemAsTheDatabaseLikes() {
        RowQuery query = RowQuery.of(SELECT, KeyColumn.number("id")).limitedBy(RowQuery.RowLimit.LIMIT);

        assertThat(query.sql(true, 11)).endsWith(" WHERE minutehand_rows.id > ? ORDER BY minutehand_rows.id LIMIT 11");
        assertThat(query.cursorValues(List.of("42"))).isEqualTo(List.of(42L));
    }

    @Test
    void shouldCompareKeysOfSeveralColumnsFromTheFirstToTheLast() {
        RowQuery query = RowQuery.of(
                SELECT, KeyColumn.timestampWithTimeZone("due_at"), KeyColumn.number("shop"), KeyColumn.text("id"));

        assertThat(query.sql(true, 11).replace("minutehand_rows.", ""))
                .contains("WHERE due_at >= ? AND (due_at > ? OR (due_at = ? AND shop > ?)"
                        + " OR (due_at = ? AND shop = ? AND id > ?))")
                .contains("ORDER BY due_at, shop, id ");
        Object at = Instant.EPOCH.atOffset(ZoneOffset.UTC);
        assertThat(query.cursorValues(List.of("1970-01-01T00:00Z", "7", "a")))
                .isEqualTo(List.of(at, at, at, 7L, at, 7L, "a"));
    }

    @Test
    void shouldGiveTheTimeToItsParameters() {
        RowQuery query = RowQuery.of(SELECT + " AND due_at < ?", KeyColumn.number("id"))
                .parameters(until -> List.of(until.plusSeconds(1)));

        assertThat(query.parametersFor(Instant.EPOCH)).isEqualTo(List.of(Instant.ofEpochSecond(1)));
        assertThat(query.limitedBy(RowQuery.RowLimit.LIMIT).parametersFor(Instant.EPOCH))
                .hasSize(1);
        assertThat(RowQuery.of(SELECT, KeyColumn.number("id")).parametersFor(Instant.EPOCH))
                .isEmpty();
    }

    @Test
    void shouldKnowItsOwnPlaces() {
        RowQuery query = RowQuery.of(SELECT, KeyColumn.number("id"));

        assertThat(query.canRead(null)).isTrue();
        assertThat(query.canRead(List.of("1"))).isTrue();
        assertThat(query.canRead(List.of("x"))).isFalse();
        assertThat(query.canRead(List.of("1", "2"))).isFalse();
        assertThat(query.fingerprint())
                .isEqualTo(RowQuery.of(" " + SELECT, KeyColumn.number("id")).fingerprint())
                .isNotEqualTo(RowQuery.of(SELECT, KeyColumn.number("due_at")).fingerprint())
                .isNotEqualTo(RowQuery.of(SELECT + "ed", KeyColumn.number("id")).fingerprint());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "SELECT 1;", "SELECT 1 ; "})
    void shouldRefuseWhatCannotBecomeAPartOfAQuery(String select) {
        assertThatThrownBy(() -> RowQuery.of(select, KeyColumn.number("id")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("semicolon");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "o.id", "id; DROP", "1id", "\"id\""})
    void shouldRefuseAKeyColumnThatIsNoPlainName(String name) {
        assertThatThrownBy(() -> KeyColumn.number(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + name + "\"");
    }

    @Test
    void shouldRefuseAKeyColumnThatIsNamedTwice() {
        assertThatThrownBy(() -> RowQuery.of(SELECT, KeyColumn.number("id"), KeyColumn.text("ID")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[id, ID]");
    }
}
