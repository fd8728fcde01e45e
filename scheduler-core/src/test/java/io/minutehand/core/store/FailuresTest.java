package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.store.StoreException.Kind;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisResponseTimeoutException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.WriteRedisConnectionException;

/** What each failure of the client says of the call: FailureIT shows those that a real server causes, here are those that need more luck. */
class FailuresTest {
    private final Failures failures = new Failures();

    private Kind kind(Throwable failure) {
        return failures.translate("a call", failure).kind();
    }

    @Test
    void shouldKnowWhatWasNeverSent() {
        assertThat(kind(new RedisConnectionException("Unable to connect to Redis server: 127.0.0.1/127.0.0.1:6379")))
                .isEqualTo(Kind.UNAVAILABLE);
        assertThat(kind(new RedisTimeoutException("Unable to acquire connection! Increase connection pool size.")))
                .isEqualTo(Kind.UNAVAILABLE);
        assertThat(kind(new RedisTimeoutException("Command still hasn't been written into connection! Check CPU")))
                .isEqualTo(Kind.UNAVAILABLE);
    }

    @Test
    void shouldNotClaimToKnowWhatMayHaveBeenSent() {
        assertThat(kind(new WriteRedisConnectionException("Channel has been closed!", new ClosedChannelException())))
                .isEqualTo(Kind.UNKNOWN);
        assertThat(kind(new RedisResponseTimeoutException("Redis server response timeout (1000 ms) occurred")))
                .isEqualTo(Kind.UNKNOWN);
        assertThat(kind(new RedisTimeoutException("Something else took too long")))
                .isEqualTo(Kind.UNKNOWN);
        assertThat(kind(new RedisException("Unexpected", new ClosedChannelException())))
                .isEqualTo(Kind.UNKNOWN);
    }

    @Test
    void shouldNameAFailureThatSaysNothing() {
        StoreException given = failures.translate("listening to a channel", new CancellationException());

        assertThat(given.kind()).isEqualTo(Kind.UNKNOWN);
        assertThat(given).hasMessageContaining("CancellationException").hasMessageNotContaining("null");
        assertThat(kind(new TimeoutException())).isEqualTo(Kind.UNKNOWN);
    }

    @Test
    void shouldTellRefusalsApart() {
        assertThat(kind(new RedisOutOfMemoryException("OOM command not allowed")))
                .isEqualTo(Kind.FULL);
        assertThat(kind(new RedisException("NOREPLICAS Not enough good replicas to write.")))
                .isEqualTo(Kind.UNAVAILABLE);
        assertThat(kind(new RedisException("WRONGTYPE Operation against a key")))
                .isEqualTo(Kind.REFUSED);
    }
}
