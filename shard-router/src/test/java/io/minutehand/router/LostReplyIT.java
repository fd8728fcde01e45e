package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A producer whose reply is lost learns what became of its job long before the reply time-out. */
class LostReplyIT {
    private static final Duration FAR = Duration.ofMinutes(30);

    /** So long that whoever waits for it is told apart from whoever asks again, on any machine. */
    private static final Duration REPLY = Duration.ofSeconds(30);

    private static JobSpec<byte[]> job(String id) {
        return JobSpec.of(new byte[50]).id(id).after(FAR);
    }

    private static JobRouter connect(RedisServer server, LinkProxy link) {
        RedisOptions options = RedisOptions.of(link.uri())
                .withNamespace(Redises.impatient(server).namespace())
                .withReplyTimeout(REPLY);
        return JobRouter.builder()
                .redis(options)
                .deadline(REPLY.multipliedBy(2))
                .connect();
    }

    @Test
    void shouldAskAgainWhenAnAnswerIsOverdue() {
        try (RedisServer server = RedisServer.start();
                LinkProxy link = LinkProxy.before(server);
                JobRouter router = connect(server, link)) {
            TopicHandle<byte[]> topic = router.topic("t");
            topic.schedule(job("first")).join();
            link.loseReplies("EVALSHA", 1);

            assertThat(topic.schedule(job("lost")))
                    .succeedsWithin(REPLY.dividedBy(2).toMillis(), TimeUnit.MILLISECONDS)
                    .satisfies(result -> assertThat(result.status()).isEqualTo(ScheduleResult.Status.EXISTS));

            assertThat(link.lost()).isEqualTo(1);
            assertThat(topic.find("lost").join()).isPresent();
        }
    }
}
