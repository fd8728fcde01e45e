package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.minutehand.core.job.Limits;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.StoredTopic;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.worker.TopicWork.UndecodableException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TopicWorkTest {
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    record Order(int id, String secret) {}

    static final class Picky {
        @JsonCreator
        Picky(String text) {
            throw new IllegalStateException("not " + text);
        }
    }

    private final List<Object> handled = new ArrayList<>();

    private <T> TopicWork.Call typed(Class<T> type) {
        return TopicWork.typed((value, job) -> handled.add(value), MAPPER.reader(), MAPPER.constructType(type));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldTolerateUnknownFields() throws Exception {
        typed(Order.class).run(utf8("{\"id\":7,\"secret\":\"s\",\"added\":{\"later\":[1]}}"), null);
        assertThat(handled).containsExactly(new Order(7, "s"));
    }

    @Test
    void shouldCallAPayloadUndecodableThatIsNone() {
        for (String payload : List.of("", "{", "[1]", "{\"id\":\"x\"}", "\"text\"")) {
            assertThatExceptionOfType(UndecodableException.class)
                    .as("payload %s", payload)
                    .isThrownBy(() -> typed(Order.class).run(utf8(payload), null))
                    .withMessageStartingWith("payload cannot be decoded: ");
        }
        assertThat(handled).isEmpty();
    }

    @Test
    void shouldCallAPayloadUndecodableThatItsTypeRefuses() {
        assertThatExceptionOfType(UndecodableException.class)
                .isThrownBy(() -> typed(Picky.class).run(utf8("\"text\""), null));
        ObjectMapper throwing = new ObjectMapper();
        com.fasterxml.jackson.databind.module.SimpleModule module =
                new com.fasterxml.jackson.databind.module.SimpleModule();
        module.addDeserializer(
                Order.class, new com.fasterxml.jackson.databind.deser.std.StdDeserializer<Order>(Order.class) {
                    @Override
                    public Order deserialize(
                            com.fasterxml.jackson.core.JsonParser parser,
                            com.fasterxml.jackson.databind.DeserializationContext context) {
                        throw new IllegalStateException("bad order");
                    }
                });
        throwing.registerModule(module);
        TopicWork.Call call = TopicWork.typed(
                (value, job) -> handled.add(value), throwing.reader(), throwing.constructType(Order.class));
        assertThatExceptionOfType(UndecodableException.class).isThrownBy(() -> call.run(utf8("{}"), null));
    }

    @Test
    void shouldSayWhereAPayloadIsWrongWithoutAWordOfIt() {
        assertThatExceptionOfType(UndecodableException.class)
                .isThrownBy(() -> typed(Order.class).run(utf8("{\"id\":\"pin-4711\",\"secret\":\"pin-4711\"}"), null))
                .withMessageContaining("[\"id\"]")
                .withMessageContaining("line 1")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("4711"));
    }

    @Test
    void shouldLetWhatTheHandlerThrowsPass() {
        TopicWork.Call call = TopicWork.typed(
                (value, job) -> {
                    throw new IllegalStateException("mine");
                },
                MAPPER.reader(),
                MAPPER.constructType(Order.class));
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> call.run(utf8("{\"id\":1}"), null));
    }

    @Test
    void shouldFollowTheTopicWhereTheNodeSaysNothing() {
        TopicSettings settings =
                TopicSettings.defaults().withRetry(RetryPolicy.none()).withHandlerTimeout(Duration.ofSeconds(9));
        TopicWork plain = Fixtures.topic("plain", TopicOptions.defaults(), settings);
        assertThat(plain.retry()).isEqualTo(RetryPolicy.none());
        assertThat(plain.timeout()).isEqualTo(Duration.ofSeconds(9));
        assertThat(plain.capacity(64)).isEqualTo(64);
        TopicWork own = Fixtures.topic(
                "own",
                TopicOptions.defaults()
                        .retry(RetryPolicy.quadratic(2))
                        .timeout(Duration.ofSeconds(3))
                        .concurrency(5),
                settings);
        assertThat(own.retry()).isEqualTo(RetryPolicy.quadratic(2));
        assertThat(own.timeoutNs()).isEqualTo(3_000_000_000L);
        assertThat(own.capacity(64)).isEqualTo(5);
        assertThat(own.capacity(2)).isEqualTo(2);
    }

    @Test
    void shouldCountWithTheLongestTimes() {
        TopicSettings endless =
                TopicSettings.defaults().withHandlerTimeout(Limits.HORIZON).withVisibility(Limits.HORIZON);
        TopicWork topic = Fixtures.topic("endless", TopicOptions.defaults(), endless);
        assertThat(topic.timeoutNs()).isPositive();
        assertThat(System.nanoTime() + topic.visibilityNs()).isPositive();
        TopicWork forever = Fixtures.topic("own", TopicOptions.defaults().timeout(ChronoUnit.FOREVER.getDuration()));
        assertThat(forever.timeoutNs()).isPositive();
    }

    @Test
    void shouldNoticeWhenTheShardsAreOthers() {
        TopicWork topic = new TopicWork("orders", TopicOptions.defaults(), (payload, job) -> {});
        assertThat(topic.known()).isFalse();
        assertThat(topic.stored()).isNull();
        assertThat(topic.update(new StoredTopic("orders", 1, TopicSettings.defaults())))
                .isTrue();
        assertThat(topic.update(
                        new StoredTopic("orders", 1, TopicSettings.defaults().withRetry(RetryPolicy.none()))))
                .isFalse();
        assertThat(topic.update(
                        new StoredTopic("orders", 2, TopicSettings.defaults().withShards(9))))
                .isTrue();
        assertThat(topic.known()).isTrue();
    }
}
