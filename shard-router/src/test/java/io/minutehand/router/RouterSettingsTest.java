package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.Durability;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Settings out of range stop the router before it connects. */
class RouterSettingsTest {
    static List<Arguments> badSettings() {
        return List.of(
                bad(b -> b.bufferBytes(1000), "bufferBytes=1000", "payloadBytes=262144"),
                bad(b -> b.blockFor(Duration.ofSeconds(-1)), "blockFor=PT-1S"),
                bad(b -> b.blockFor(Duration.ofHours(2)), "blockFor=PT2H", "PT1H"),
                bad(b -> b.deadline(Duration.ofMillis(99)), "deadline=PT0.099S", "PT0.1S"),
                bad(b -> b.deadline(Duration.ofDays(1)), "deadline=PT24H"),
                bad(b -> b.payloadBytes(0), "payloadBytes=0"),
                bad(
                        b -> b.durability(Durability.replicas(1, Duration.ofSeconds(10))),
                        "durability=Durability[replicas=1, within=PT10S]",
                        "less time for replicas than the deadline of PT10S"),
                bad(b -> b.payloadBytes(768 * 1024 + 1), "payloadBytes=786433", "786432"),
                bad(b -> b.namespace("a b"), "namespace \"a b\""),
                bad(b -> b.declare("Topic", TopicSettings.defaults()), "\"T\" at position 0"),
                bad(b -> b.redis("http://x"), "scheme \"http\""),
                bad(
                        b -> b.deadline(Duration.ofSeconds(11))
                                .declare("t", TopicSettings.defaults().withRetention(Duration.ofSeconds(12))),
                        "topic=t declares retention=PT12S",
                        "PT13S"));
    }

    private static Arguments bad(Consumer<JobRouter.Builder> change, String... said) {
        return Arguments.of(change, said);
    }

    @ParameterizedTest
    @MethodSource("badSettings")
    void shouldNameSettingValueAndRange(Consumer<JobRouter.Builder> change, String... said) {
        assertThatThrownBy(() -> {
                    JobRouter.Builder builder = JobRouter.builder().redis("redis://localhost:1");
                    change.accept(builder);
                    builder.connect().close();
                })
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(said);
    }

    @Test
    void shouldWantARedis() {
        assertThatThrownBy(() -> JobRouter.builder().connect().close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redis(uri)");
    }

    @Test
    void shouldHaveTheDefaultsOfTheDesign() {
        assertThat(RouterSettings.defaults())
                .isEqualTo(new RouterSettings(
                        64L * 1024 * 1024,
                        OnFull.BLOCK,
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(10),
                        256 * 1024,
                        true,
                        Durability.MEMORY));
    }
}
