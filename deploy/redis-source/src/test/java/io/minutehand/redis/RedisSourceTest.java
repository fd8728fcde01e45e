package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.source.SourceChooser.Choice;
import io.minutehand.source.SourceKind;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RedisSourceTest {

    @Test
    void shouldDescribeWithoutCredentials() {
        assertThat(new RedisSource(new Choice<>(SourceKind.ADDRESS, "redis://:secret@somewhere:7000", null)).describe())
                .contains("somewhere:7000")
                .doesNotContain("secret");
        RedisBinary installed = new RedisBinary(Path.of("/usr/bin/redis-server"), "7.0.15", SourceKind.PATH);
        assertThat(new RedisSource(new Choice<>(SourceKind.PATH, null, installed)).describe())
                .contains("7.0.15", "/usr/bin/redis-server");
        assertThat(new RedisSource(new Choice<>(SourceKind.DOCKER, null, null)).describe())
                .contains("redis:7");
    }

    @Test
    void shouldRefuseAnAddressThatIsNone() {
        Choice<RedisBinary> choice = new Choice<>(SourceKind.ADDRESS, "somewhere 7000", null);
        assertThatThrownBy(() -> new RedisSource(choice))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redis://");
    }

    @Test
    void shouldCallItsSettingsByTheirNames() {
        assertThat(RedisSource.NAMES.addressVariable()).isEqualTo("MINUTEHAND_REDIS");
        assertThat(RedisSource.NAMES.sourceVariable()).isEqualTo("MINUTEHAND_REDIS_SOURCE");
        assertThat(RedisSource.NAMES.addressProperty()).isEqualTo("minutehand.redis");
        assertThat(RedisSource.NAMES.sourceProperty()).isEqualTo("minutehand.redis.source");
    }
}
