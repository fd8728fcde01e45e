package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EmbeddedRedisTest {

    @ParameterizedTest
    @CsvSource({"Linux, amd64, linux-amd64", "Linux, x86_64, linux-amd64", "Linux, aarch64, linux-arm64"})
    void shouldKnowItsPlatforms(String os, String arch, String platform) {
        assertThat(EmbeddedRedis.platform(os, arch)).isEqualTo(platform);
    }

    @ParameterizedTest
    @CsvSource({"Mac OS X, aarch64", "Windows 11, amd64", "Linux, riscv64"})
    void shouldSayWhatToDoOnOtherPlatforms(String os, String arch) {
        assertThatThrownBy(() -> EmbeddedRedis.platform(os, arch))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("install redis-server")
                .hasMessageContaining("MINUTEHAND_REDIS");
    }

    @ParameterizedTest
    @CsvSource({"linux-amd64", "linux-arm64"})
    void shouldAcceptTheBinariesOfTheJar(String platform) {
        assertThat(EmbeddedRedis.verified(EmbeddedRedis.class.getClassLoader(), platform))
                .hasSizeGreaterThan(5_000_000)
                .startsWith(0x7f, 'E', 'L', 'F');
    }

    @Test
    void shouldRefuseOtherBytesBeforeTheyAreWritten() {
        byte[] real = EmbeddedRedis.verified(EmbeddedRedis.class.getClassLoader(), "linux-amd64");
        real[real.length / 2] ^= 1;
        assertThatThrownBy(() -> EmbeddedRedis.verified(serving(real), "linux-amd64"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("SHA-256")
                .hasMessageContaining("it is not run");
    }

    @Test
    void shouldNotTakeOnePlatformForAnother() {
        byte[] real = EmbeddedRedis.verified(EmbeddedRedis.class.getClassLoader(), "linux-amd64");
        assertThatThrownBy(() -> EmbeddedRedis.verified(serving(real), "linux-arm64"))
                .hasMessageContaining("it is not run");
    }

    @Test
    void shouldNameTheMissingJar() {
        assertThatThrownBy(() -> EmbeddedRedis.verified(serving(null), "linux-amd64"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("embedded-redis:7.0.9");
    }

    private static ClassLoader serving(byte @Nullable [] content) {
        return new ClassLoader(null) {
            @Override
            public @Nullable InputStream getResourceAsStream(String name) {
                return content == null ? null : new ByteArrayInputStream(content);
            }
        };
    }
}
