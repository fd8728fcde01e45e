package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;

/** The cases that no server on this machine can bring about; the others are in {@link ConnectFailuresIT}. */
class ConnectFailuresTest {
    @Test
    void shouldTellAnUnknownHost() {
        assertThat(message(new UnknownHostException("rediss.example")))
                .isEqualTo(
                        "cannot connect to redis://h:1, tried for 3.2 s: unknown host rediss.example; check the spelling of the"
                                + " host's name, and DNS");
    }

    @Test
    void shouldTellATimeoutFromARefusal() {
        assertThat(message(new ConnectException("connection timed out after 3000 ms: h/10.0.0.1:1")))
                .contains("timed out after 3000 ms", "firewall")
                .doesNotContain("nobody listens");
        assertThat(message(new TimeoutException()))
                .contains(": no answer in time; check", "firewall")
                .doesNotContain("null");
    }

    @Test
    void shouldTellThatThereIsNoWay() {
        assertThat(message(new NoRouteToHostException("No route to host"))).contains("there is no way to this address");
    }

    @Test
    void shouldNameWhatToCheckWhenItKnowsNoBetter() {
        assertThat(message(new IllegalStateException("out of luck")))
                .endsWith(": out of luck; check address, user, password and TLS");
    }

    private static String message(Exception cause) {
        Throwable failure = new RedisConnectionException("Unable to connect", cause);
        return String.valueOf(ConnectFailures.refused("redis://h:1", false, 3_200_000_000L, failure)
                .getMessage());
    }
}
