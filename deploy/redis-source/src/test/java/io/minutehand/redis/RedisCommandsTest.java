package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RedisCommandsTest {

    @Test
    void shouldSendWordsAsTheyAre() throws IOException {
        try (Scripted server = new Scripted("+OK\r\n");
                RedisCommands commands = server.connect()) {
            byte[] raw = {'a', '\r', '\n', 0, (byte) 0xff};
            assertThat(commands.call("SET", raw, "é", 12L)).isEqualTo("OK");
            commands.close();
            assertThat(server.received())
                    .isEqualTo("*4\r\n$3\r\nSET\r\n$5\r\na\r\n\0\u00ff\r\n$2\r\n\u00c3\u00a9\r\n$2\r\n12\r\n");
        }
    }

    @Test
    void shouldReadEachTypeOfReply() throws IOException {
        try (Scripted server = new Scripted(
                        "+OK\r\n:-7\r\n$5\r\na\r\nb\0\r\n$0\r\n\r\n$-1\r\n*-1\r\n*4\r\n:1\r\n$-1\r\n*1\r\n+x\r\n-ERR no\r\n");
                RedisCommands commands = server.connect()) {
            assertThat(commands.receive()).isEqualTo("OK");
            assertThat(commands.receive()).isEqualTo(-7L);
            assertThat((byte[]) commands.receive()).containsExactly('a', '\r', '\n', 'b', 0);
            assertThat((byte[]) commands.receive()).isEmpty();
            assertThat(commands.receive()).isNull();
            assertThat(commands.receive()).isNull();
            List<?> list = (List<?>) commands.receive();
            assertThat(list).hasSize(4);
            assertThat(list.subList(0, 3)).isEqualTo(Arrays.asList(1L, null, List.of("x")));
            assertThat(list.get(3))
                    .isInstanceOfSatisfying(
                            RedisReplyException.class, e -> assertThat(e.code()).isEqualTo("ERR"));
        }
    }

    @Test
    void shouldConvertReplies() throws IOException {
        try (Scripted server = new Scripted(":5\r\n$2\r\n42\r\n*2\r\n$1\r\na\r\n$-1\r\n*-1\r\n"
                        + "$37\r\n# Server\r\na:1\r\nb:x:y\r\n\r\n# Other\r\nc:\r\n\r\n");
                RedisCommands commands = server.connect()) {
            assertThat(commands.number("A")).isEqualTo(5);
            assertThat(commands.number("B")).isEqualTo(42);
            assertThat(commands.texts("C")).containsExactly("a", "");
            assertThat(commands.texts("D")).isEmpty();
            assertThat(commands.info("all"))
                    .containsExactly(Map.entry("a", "1"), Map.entry("b", "x:y"), Map.entry("c", ""));
        }
    }

    @Test
    void shouldThrowAnErrorReplyAndGoOn() throws IOException {
        try (Scripted server = new Scripted("-NOSCRIPT No matching script.\r\n+PONG\r\n");
                RedisCommands commands = server.connect()) {
            assertThatThrownBy(() -> commands.call("EVALSHA", "x", 0))
                    .isInstanceOfSatisfying(
                            RedisReplyException.class, e -> assertThat(e.code()).isEqualTo("NOSCRIPT"))
                    .hasMessage("NOSCRIPT No matching script.");
            assertThat(commands.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void shouldAuthenticateFirst() throws IOException {
        try (Scripted server = new Scripted("+OK\r\n")) {
            RedisCommands.connect("redis://ann:pw@127.0.0.1:" + server.port()).close();
            assertThat(server.received()).isEqualTo("*3\r\n$4\r\nAUTH\r\n$3\r\nann\r\n$2\r\npw\r\n");
        }
    }

    @Test
    void shouldFailWhenTheConnectionEndsInsideAReply() throws IOException {
        try (Scripted server = new Scripted("$10\r\nabc");
                RedisCommands commands = server.connect()) {
            server.hangUp();
            assertThatThrownBy(() -> commands.call("GET", "a")).isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void shouldFailWhenNoReplyComesInTime() throws IOException {
        try (Scripted server = new Scripted("");
                RedisCommands commands =
                        RedisCommands.connect("redis://127.0.0.1:" + server.port(), Duration.ofMillis(50))) {
            assertThatThrownBy(() -> commands.call("PING")).isInstanceOf(UncheckedIOException.class);
        }
    }

    /** Answers the one connection with fixed bytes, whatever comes in. */
    private static final class Scripted implements AutoCloseable {

        private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        private final CompletableFuture<Socket> connection;
        private final CompletableFuture<byte[]> received;

        Scripted(String replies) throws IOException {
            connection = CompletableFuture.supplyAsync(() -> {
                try {
                    Socket socket = listener.accept();
                    socket.getOutputStream().write(replies.getBytes(StandardCharsets.ISO_8859_1));
                    return socket;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            received = connection.thenApplyAsync(Scripted::drain);
        }

        private static byte[] drain(Socket socket) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            try {
                InputStream in = socket.getInputStream();
                in.transferTo(all);
            } catch (IOException e) {
                // The other side hung up; what came until then counts.
            }
            return all.toByteArray();
        }

        int port() {
            return listener.getLocalPort();
        }

        RedisCommands connect() {
            return RedisCommands.connect("redis://127.0.0.1:" + port());
        }

        void hangUp() throws IOException {
            connection.join().close();
        }

        String received() {
            return new String(received.join(), StandardCharsets.ISO_8859_1);
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
