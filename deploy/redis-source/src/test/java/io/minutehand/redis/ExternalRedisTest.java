package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who names a wrong address is told what is wrong with it. */
class ExternalRedisTest {
    @Test
    void shouldTellAServerThatIsNoRedis() throws Exception {
        refuses("HTTP/1.1 400 Bad Request\r\n\r\n", "unknown reply type 'H'");
    }

    @Test
    void shouldTellAServerThatHangsUpAsOneWithTlsDoes() throws Exception {
        refuses("", "the server closed the connection");
    }

    private static void refuses(String greeting, String said) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> serve(server, greeting));
            String uri = "redis://127.0.0.1:" + server.getLocalPort();

            assertThatThrownBy(() -> ExternalRedis.reach(uri))
                    .isInstanceOf(UncheckedIOException.class)
                    .isNotInstanceOf(RedisGoneException.class)
                    .hasMessageContainingAll("No Redis answers at " + uri, said, "TLS");
            served.join();
        }
    }

    private static void serve(ServerSocket server, String greeting) {
        try (Socket client = server.accept()) {
            // Read first: closing with unread bytes would reset the connection.
            client.getInputStream().read(new byte[64]);
            client.getOutputStream().write(greeting.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldSayWhereToLookForEachReason() {
        assertThat(RedisCommands.why(new UnknownHostException("nohost"))).startsWith("unknown host nohost; ");
        assertThat(RedisCommands.why(new ConnectException("Connection refused")))
                .contains("Redis is running there");
        assertThat(RedisCommands.why(new SocketTimeoutException("Connect timed out")))
                .contains("firewall");
        assertThat(RedisCommands.why(new IOException("else"))).isEqualTo("else");
    }
}
