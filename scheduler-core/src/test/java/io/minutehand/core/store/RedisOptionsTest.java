package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisOptionsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "redis://h                                    | SINGLE   | false | h:6379         | -    | -      | 0 | -",
                "redis://h:7000/3                             | SINGLE   | false | h:7000         | -    | -      | 3 | -",
                "redis://h/                                   | SINGLE   | false | h:6379         | -    | -      | 0 | -",
                "rediss://h:7000                              | SINGLE   | true  | h:7000         | -    | -      | 0 | -",
                "redis://:secret@h                            | SINGLE   | false | h:6379         | -    | secret | 0 | -",
                "redis://me:secret@h                          | SINGLE   | false | h:6379         | me   | secret | 0 | -",
                "redis://me@h                                 | SINGLE   | false | h:6379         | me   | -      | 0 | -",
                "redis://127.0.0.1:1                          | SINGLE   | false | 127.0.0.1:1    | -    | -      | 0 | -",
                "redis://[::1]:7000                           | SINGLE   | false | [::1]:7000     | -    | -      | 0 | -",
                "redis+cluster://a:1,b:2,c                    | CLUSTER  | false | a:1;b:2;c:6379 | -    | -      | 0 | -",
                "rediss+cluster://me:secret@a:1,b:2           | CLUSTER  | true  | a:1;b:2        | me   | secret | 0 | -",
                "redis+sentinel://a:1,b:2/main                | SENTINEL | false | a:1;b:2        | -    | -      | 0 | main",
                "rediss+sentinel://:secret@a:1/main           | SENTINEL | true  | a:1            | -    | secret | 0 | main",
            })
    void shouldReadUris(
            String uri,
            RedisOptions.Mode mode,
            boolean tls,
            String addresses,
            String user,
            String password,
            int database,
            String master) {
        RedisOptions options = RedisOptions.of(uri);

        assertThat(options.mode()).isEqualTo(mode);
        assertThat(options.tls()).isEqualTo(tls);
        assertThat(options.addresses()).containsExactly(addresses.split(";"));
        assertThat(options.user()).isEqualTo(user);
        assertThat(options.password()).isEqualTo(password);
        assertThat(options.database()).isEqualTo(database);
        assertThat(options.master()).isEqualTo(master);
        assertThat(options.namespace()).isEqualTo("mh");
        assertThat(options.replyTimeout()).isEqualTo(Duration.ofSeconds(1));
        assertThat(options.trustStore()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "redis://me:p%40ss%3Aw%2Frd@h, p@ss:w/rd",
        "redis://me:p@ss:w/rd@h, p@ss:w/rd",
        "redis://me:a+b@h, a+b",
        "redis://me:%C3%A4%25@h, \u00e4%",
        "redis://m%3Ae:x#?y@h, x#?y"
    })
    void shouldReadPasswordsWithSpecialCharacters(String uri, String password) {
        assertThat(RedisOptions.of(uri).password()).isEqualTo(password);
        assertThat(RedisOptions.of(uri).addresses()).containsExactly("h:6379");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "h:6379",
                "http://h",
                "redis://",
                "redis://:sesame@",
                "redis://h:port",
                "redis://:sesame@h:port",
                "redis://:sesame@h h",
                "redis://:sesame@h/zero",
                "redis://:sesame@h/-1",
                "redis+cluster://a:1,,b:2",
                "redis+sentinel://:sesame@a:1",
                "redis+sentinel://:sesame@a:1/",
                "redis://me:sesame%@h",
                "redis://me:%zesame@h",
                "redis://me:%sesame@h",
                "redis://:sesame",
                "redis://me:sesame"
            })
    void shouldRefuseOthersWithoutRepeatingThePassword(String uri) {
        assertThatThrownBy(() -> RedisOptions.of(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(refused -> {
                    assertThat(refused.getMessage()).doesNotContain("sesame", "esame", "\"se\"");
                    for (Throwable cause = refused.getCause(); cause != null; cause = cause.getCause()) {
                        assertThat(String.valueOf(cause.getMessage())).doesNotContain("sesame", "esame", "\"se\"");
                    }
                });
    }

    @Test
    void shouldShowWhereButNotWho() {
        assertThat(RedisOptions.of("redis://me:sesame@h:1/2")).hasToString("redis://h:1 namespace=mh");
        assertThat(RedisOptions.of("rediss+cluster://me:sesame@a:1,b:2").withNamespace("x"))
                .hasToString("rediss+cluster://a:1,b:2 namespace=x");
        assertThat(RedisOptions.of("redis+sentinel://:sesame@a:1/main").withTrustStore(Path.of("trust.p12"), "sesame"))
                .hasToString("redis+sentinel://a:1/main namespace=mh");
    }

    @Test
    void shouldCheckWhatIsSetAfterwards() {
        RedisOptions options = RedisOptions.of("redis://h");

        assertThat(options.withReplyTimeout(Duration.ofMillis(50)).replyTimeout())
                .isEqualTo(Duration.ofMillis(50));
        assertThatThrownBy(() -> options.withReplyTimeout(Duration.ofMillis(49)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0.049S")
                .hasMessageContaining("50 ms to 30 s");
        assertThatThrownBy(() -> options.withReplyTimeout(Duration.ofSeconds(31)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.withNamespace("a:b")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldNameWhatIsMissing() {
        assertThatThrownBy(() -> RedisOptions.of(null)).hasMessage("uri");
        assertThatThrownBy(() -> RedisOptions.of("redis://h").withNamespace(null))
                .hasMessage("namespace");
        assertThatThrownBy(() -> RedisOptions.of("redis://h").withReplyTimeout(null))
                .hasMessage("replyTimeout");
    }
}
