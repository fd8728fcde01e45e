package io.minutehand.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.source.SourceChooser.Choice;
import io.minutehand.source.SourceKind;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresSourceTest {

    @Test
    void shouldDescribeWithoutCredentials() {
        assertThat(source(SourceKind.ADDRESS, "jdbc:postgresql://somewhere:7000/shop?user=me&password=secret", null)
                        .describe())
                .contains("somewhere:7000/shop")
                .doesNotContain("secret");
        PostgresBinary installed = new PostgresBinary(Path.of("/usr/lib/postgresql/15/bin"), "15.18", SourceKind.PATH);
        assertThat(source(SourceKind.PATH, null, installed).describe()).contains("15.18", "/usr/lib/postgresql/15/bin");
        assertThat(source(SourceKind.DOCKER, null, null).describe()).contains("postgres:15");
    }

    @Test
    void shouldCallItsSettingsByTheirNames() {
        assertThat(PostgresSource.NAMES.addressVariable()).isEqualTo("MINUTEHAND_TEST_POSTGRES");
        assertThat(PostgresSource.NAMES.sourceVariable()).isEqualTo("MINUTEHAND_POSTGRES_SOURCE");
        assertThat(PostgresSource.NAMES.addressProperty()).isEqualTo("minutehand.test.postgres");
        assertThat(PostgresSource.NAMES.sourceProperty()).isEqualTo("minutehand.postgres.source");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://me:secret@somewhere/shop",
                "jdbc:postgresql://some where:secret",
                "jdbc:postgresql://somewhere:secret",
                "secret"
            })
    void shouldRefuseAnAddressWithoutShowingIt(String address) {
        assertThatThrownBy(() -> source(SourceKind.ADDRESS, address, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jdbc:postgresql://host:5432/database")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @CsvSource({"Mac OS X, aarch64", "Linux, aarch64", "Windows 11, amd64"})
    void shouldSayWhereThereIsNoEmbeddedOne(String osName, String osArch) {
        assertThatThrownBy(() -> EmbeddedPostgres.requirePlatform(osName, osArch))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(osArch)
                .hasMessageContaining("MINUTEHAND_TEST_POSTGRES");
    }

    private static PostgresSource source(SourceKind kind, @Nullable String address, @Nullable PostgresBinary programs) {
        return new PostgresSource(new Choice<>(kind, address, programs), true);
    }
}
