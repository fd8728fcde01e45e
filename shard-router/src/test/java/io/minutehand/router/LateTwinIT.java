package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What is sent twice since its answer took long, where nothing is remembered of a job that has ended. */
class LateTwinIT {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final TopicSettings FORGETFUL =
            TopicSettings.defaults().withShards(1).withRetention(Duration.ZERO);

    @Test
    void shouldNotBringACancelledJobBackWhenTheLinkIsSlow() {
        try (RedisServer server = RedisServer.start();
                LinkProxy link = LinkProxy.before(server);
                JobRouter near = JobRouter.builder()
                        .redis(server.uri())
                        .declare("t", FORGETFUL)
                        .connect();
                JobRouter far = JobRouter.builder().redis(link.uri()).connect()) {
            TopicHandle<byte[]> nearTopic = near.topic("t");
            TopicHandle<byte[]> farTopic = far.topic("t");
            nearTopic.schedule(JobSpec.of(new byte[1]).id("first").after(LONG)).join();
            farTopic.find("first").join();
            // No reply is lost: it takes longer than usual, once.
            link.delay(Duration.ofMillis(300), Duration.ZERO);

            var scheduled = farTopic.schedule(JobSpec.of(new byte[1]).id("job").after(Duration.ofHours(1)));
            await().atMost(LONG)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> nearTopic.find("job").join().isPresent());
            assertThat(nearTopic.cancel("job").join().status()).isEqualTo(CancelResult.Status.CANCELLED);
            assertThat(scheduled.join().status()).isEqualTo(ScheduleResult.Status.CREATED);
            // On the same link, behind whatever was sent before.
            link.pass();
            farTopic.find("first").join();

            await().during(Duration.ofSeconds(1))
                    .atMost(LONG)
                    .untilAsserted(
                            () -> assertThat(nearTopic.find("job").join()).isEmpty());
        }
    }
}
