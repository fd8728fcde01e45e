package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.job.RetryPolicy;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.SharedRedis;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MinutehandExtensionIT {
    record Order(long id) {}

    @RegisterExtension
    final MinutehandExtension minutehand = new MinutehandExtension();

    @AfterAll
    static void shouldLeaveNoKeyBehind() {
        try (RedisCommands commands = SharedRedis.get().connect()) {
            assertThat(commands.texts("KEYS", "test-*")).isEmpty();
        }
    }

    @Test
    void shouldRunAJobOfTheNextHalfHourNow() {
        List<Long> closed = new CopyOnWriteArrayList<>();
        try (JobRouter router = minutehand.router().connect();
                WorkerNode node = minutehand
                        .worker()
                        .handle("orders", Order.class, (order, job) -> closed.add(order.id()))
                        .start()) {
            TopicHandle<Order> orders = router.topic("orders", Order.class);
            orders.schedule(JobSpec.of(new Order(1)).after(Duration.ofMinutes(30)))
                    .join();
            orders.schedule(JobSpec.of(new Order(2)).after(Duration.ofMinutes(45)))
                    .join();
            minutehand.awaitIdle("orders", Duration.ofSeconds(10));
            assertThat(closed).isEmpty();

            assertThat(minutehand.fire("orders", Duration.ofMinutes(31))).isEqualTo(1);
            minutehand.awaitIdle("orders", Duration.ofSeconds(10));

            assertThat(closed).containsExactly(1L);
            assertThat(node.ready()).isTrue();
        }
    }

    @Test
    void shouldRunRetriesWithoutWaiting() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        TopicOptions hourly = TopicOptions.defaults().retry(RetryPolicy.fixed(Duration.ofHours(1), 2));
        try (JobRouter router = minutehand.router().connect();
                WorkerNode node = minutehand
                        .worker()
                        .handle("orders", hourly, (payload, job) -> {
                            attempts.add(job.attempt());
                            throw new IllegalStateException("planned");
                        })
                        .start()) {
            router.topic("orders").schedule(JobSpec.of(new byte[] {1})).join();
            for (int attempt = 1; attempt <= 3; attempt++) {
                minutehand.awaitIdle("orders", Duration.ofSeconds(10));
                assertThat(attempts).hasSize(attempt);
                assertThat(minutehand.fire("orders", Duration.ofHours(1))).isEqualTo(attempt < 3 ? 1 : 0);
            }
            assertThat(attempts).containsExactly(1, 2, 3);
            assertThat(node.ready()).isTrue();
        }
    }

    @Test
    void shouldTellWhatIsLeftWhenATopicDoesNotBecomeIdle() {
        try (JobRouter router = minutehand.router().connect()) {
            router.topic("orders").schedule(JobSpec.of(new byte[] {1})).join();
            assertThatThrownBy(() -> minutehand.awaitIdle("orders", Duration.ofMillis(50)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("due=1");
        }
    }
}
