package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.core.write.TopicRegistry.UnknownTopicException;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisServer;
import io.minutehand.router.ScheduleResult.Status;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Topics that are declared, differ, do not exist, or may not be touched. */
class TopicSettingsIT {
    private static JobSpec<byte[]> job(String id) {
        return JobSpec.of(new byte[1]).id(id).after(Duration.ofMinutes(30));
    }

    @Test
    void shouldLetTheStoredSettingsWinOverOthersThatAreDeclared() {
        RedisOptions options = Redises.shared();
        try (JobRouter first = JobRouter.builder()
                        .redis(options)
                        .declare("t", TopicSettings.defaults().withShards(3))
                        .connect();
                JobRouter second = JobRouter.builder()
                        .redis(options)
                        .declare("t", TopicSettings.defaults().withShards(16))
                        .connect()) {
            for (int i = 0; i < 50; i++) {
                assertThat(first.topic("t").schedule(job("j" + i)).join().status())
                        .isEqualTo(Status.CREATED);
            }
            for (int i = 0; i < 50; i++) {
                assertThat(second.topic("t").schedule(job("j" + i)).join().status())
                        .isEqualTo(Status.EXISTS);
                assertThat(second.topic("t").cancel("j" + i).join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            }
        }
    }

    @Test
    void shouldLeaveTombstonesAsLongAsTheStoredSettingsSay() {
        RedisOptions options = Redises.shared();
        try (JobRouter router = JobRouter.builder()
                        .redis(options)
                        .declare("t", TopicSettings.defaults().withRetention(Duration.ZERO))
                        .connect();
                StoreConnection connection = StoreConnection.open(options)) {
            TopicHandle<byte[]> topic = router.topic("t");
            assertThat(topic.schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
            var cluster = connection.cluster(Runnable::run);
            long deadlineNs = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            var stored = cluster.topics(deadlineNs).join().get(0);
            cluster.change(stored, stored.settings().withRetention(Duration.ofMinutes(5)), deadlineNs)
                    .join();

            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                topic.schedule(job("b")).join();
                assertThat(topic.cancel("b").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
                assertThat(topic.find("b").join()).isPresent();
            });
        }
    }

    @Test
    void shouldFailCallsOfATopicThatMayNotBeCreatedUntilSomebodyDeclaresIt() {
        RedisOptions options = Redises.shared();
        try (JobRouter strict =
                        JobRouter.builder().redis(options).createTopics(false).connect();
                JobRouter other = JobRouter.builder().redis(options).connect()) {
            TopicHandle<byte[]> topic = strict.topic("t");
            assertThatThrownBy(() -> topic.schedule(job("a")).join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(UnknownTopicException.class)
                    .hasMessageContaining("topic=t");
            assertThatThrownBy(() -> topic.cancel("a").join()).hasCauseInstanceOf(UnknownTopicException.class);
            other.topic("t").schedule(job("b")).join();
            assertThat(topic.schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
        }
    }

    @Test
    void shouldGoOnWhenRedisCameBackEmpty() {
        try (RedisServer server = RedisServer.start();
                JobRouter router = Redises.router(server)
                        .declare("t", TopicSettings.defaults().withShards(2))
                        .connect()) {
            TopicHandle<byte[]> topic = router.topic("t");
            assertThat(topic.schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
            try (RedisCommands redis = server.connect()) {
                redis.call("FLUSHALL");
                redis.call("SCRIPT", "FLUSH");
                assertThat(topic.schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
                assertThat(topic.find("a").join()).isPresent();
                assertThat(redis.texts("KEYS", "*:topics")).hasSize(1);
            }
        }
    }

    @Test
    void shouldFailWhatRedisRefusesForGood() {
        try (RedisServer server = RedisServer.start()) {
            RedisOptions all = Redises.options(server);
            try (JobRouter router = JobRouter.builder().redis(all).connect()) {
                router.topic("t").schedule(job("a")).join();
            }
            try (RedisCommands redis = server.connect()) {
                // Scripts may run, but schedule and cancel need commands that this user may not give.
                redis.call("ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@all", "-zadd", "-hdel");
            }
            RedisOptions reader = RedisOptions.of("redis://reader:secret@127.0.0.1:" + server.port())
                    .withNamespace(all.namespace());
            try (JobRouter router = JobRouter.builder().redis(reader).connect()) {
                TopicHandle<byte[]> topic = router.topic("t");
                assertThat(topic.find("a").join()).isPresent();
                assertThatThrownBy(() -> topic.cancel("a").join())
                        .hasCauseInstanceOf(StoreException.class)
                        .hasMessageContaining("failed");
                assertThatThrownBy(() -> topic.schedule(job("b")).join())
                        .hasCauseInstanceOf(StoreException.class)
                        .hasMessageContaining("failed");
                assertThat(router.bufferedBytes()).isZero();
            }
        }
    }

    @Test
    void shouldRunOverAConnectionOfTheCallersAndLeaveItOpen() {
        try (StoreConnection connection = StoreConnection.open(Redises.shared())) {
            try (JobRouter router = JobRouter.builder().redis(connection).connect()) {
                assertThat(router.topic("t").schedule(job("a")).join().status()).isEqualTo(Status.CREATED);
            }
            try (JobRouter router = JobRouter.builder().redis(connection).connect()) {
                assertThat(router.topic("t").schedule(job("a")).join().status()).isEqualTo(Status.EXISTS);
            }
        }
    }
}
