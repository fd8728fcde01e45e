package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreException;
import org.junit.jupiter.api.Test;

class WorkerNodeBuilderTest {
    private static final JobHandler<byte[]> NOTHING = (payload, job) -> {};

    @Test
    void shouldRefuseANodeWithoutAHandler() {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        WorkerNode.connect("redis://127.0.0.1:1").name("n7").start())
                .withMessageContaining("n7")
                .withMessageContaining("handle(topic, ...)");
    }

    @Test
    void shouldRefuseANodeThatDoesNotKnowWhereRedisIs() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkerNode.builder().handle("orders", NOTHING).start())
                .withMessageContaining("redis(uri)");
    }

    @Test
    void shouldRefuseASecondHandlerOfATopic() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkerNode.builder().handle("orders", NOTHING).handle("orders", NOTHING))
                .withMessageContaining("topic=orders");
    }

    @Test
    void shouldRefuseATopicThatIsNone() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkerNode.builder().handle("Orders {x}", NOTHING))
                .withMessageContaining("Orders");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WorkerNode.builder().slots(0))
                .withMessageContaining("slots=0");
    }

    @Test
    void shouldFailAtOnceWhenNobodyAnswers() {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> WorkerNode.builder()
                        .redis(RedisOptions.of("redis://user:pass4711@127.0.0.1:1"))
                        .handle("orders", NOTHING)
                        .start())
                .satisfies(e -> org.assertj.core.api.Assertions.assertThat(e.getMessage())
                        .contains("127.0.0.1:1")
                        .doesNotContain("pass4711"));
    }
}
