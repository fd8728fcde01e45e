package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisServerIT {

    static Stream<RedisBinary> programs() {
        return Programs.all();
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldAnswerOnLoopbackWithItsPasswordOnly(RedisBinary program) {
        try (RedisServer server = RedisServer.start(program, RedisSettings.defaults());
                RedisCommands commands = server.connect()) {
            assertThat(commands.call("PING")).isEqualTo("PONG");
            assertThat(commands.info("server"))
                    .containsEntry("process_id", Long.toString(server.pid()))
                    .containsEntry("tcp_port", Integer.toString(server.port()));
            assertThat(commands.texts("CONFIG", "GET", "bind")).containsExactly("bind", "127.0.0.1");
            assertThat(commands.texts("CONFIG", "GET", "save")).containsExactly("save", "");
            assertThatThrownBy(() -> {
                        try (RedisCommands stranger = RedisCommands.connect("redis://127.0.0.1:" + server.port())) {
                            stranger.call("PING");
                        }
                    })
                    .isInstanceOfSatisfying(
                            RedisReplyException.class, e -> assertThat(e.code()).isEqualTo("NOAUTH"));
            assertThat(server.kind()).isEqualTo(program.kind());
            assertThat(server.describe())
                    .contains("source=" + program.kind().label(), server.version())
                    .doesNotContain(server.password());
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldKeepItsSecretsToItself(RedisBinary program) throws IOException {
        try (RedisServer server = RedisServer.start(program, RedisSettings.defaults())) {
            assertThat(permissions(server.directory())).isEqualTo("rwx------");
            assertThat(permissions(server.directory().resolve("redis.conf"))).isEqualTo("rw-------");
            Path commandLine = Path.of("/proc", Long.toString(server.pid()), "cmdline");
            assertThat(Files.readString(commandLine)).doesNotContain(server.password());
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldKeepAppendedDataOverKillAndRestart(RedisBinary program) {
        try (RedisServer server =
                RedisServer.start(program, RedisSettings.defaults().withAppendOnly())) {
            long firstPid = server.pid();
            String uri = server.uri();
            byte[] value = {0, 1, '\r', '\n', (byte) 0xff};
            try (RedisCommands commands = server.connect()) {
                commands.call("SET", "kept", value);
            }
            server.killOnceWritten();
            assertThat(server.isAlive()).isFalse();
            assertThatThrownBy(server::connect).isInstanceOf(UncheckedIOException.class);

            server.restart();

            assertThat(server.uri()).isEqualTo(uri);
            assertThat(server.pid()).isNotEqualTo(firstPid);
            try (RedisCommands commands = server.connect()) {
                assertThat((byte[]) commands.call("GET", "kept")).isEqualTo(value);
                assertThat(commands.texts("CONFIG", "GET", "appendfsync")).containsExactly("appendfsync", "everysec");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldForgetOverRestartWithoutAppendOnlyFile(RedisBinary program) {
        try (RedisServer server = RedisServer.start(program, RedisSettings.defaults())) {
            try (RedisCommands commands = server.connect()) {
                commands.call("SET", "lost", "1");
            }
            server.restart();
            try (RedisCommands commands = server.connect()) {
                assertThat(commands.number("DBSIZE")).isZero();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldAnswerNothingWhilePaused(RedisBinary program) {
        try (RedisServer server = RedisServer.start(program, RedisSettings.defaults());
                RedisCommands patient = server.connect()) {
            server.pause();
            patient.send("PING");
            assertThatThrownBy(() -> RedisCommands.connect(server.uri(), Duration.ofMillis(200)))
                    .isInstanceOf(UncheckedIOException.class);
            assertThat(server.isAlive()).isTrue();

            server.resume();

            assertThat(patient.receive()).isEqualTo("PONG");
        }
    }

    @Test
    void shouldCloseWhilePaused() {
        RedisServer server = RedisServer.start();
        server.pause();
        server.close();
        assertThat(server.isAlive()).isFalse();
        assertThat(server.directory()).doesNotExist();
    }

    @Test
    void shouldApplySettings() {
        RedisSettings settings = RedisSettings.defaults()
                .withAppendOnly()
                .withDebugCommand()
                .withPassword("open-sesame")
                .with("maxmemory 12mb", "maxmemory-policy noeviction");
        try (RedisServer server = RedisServer.start(settings);
                RedisCommands commands = server.connect()) {
            assertThat(server.password()).isEqualTo("open-sesame");
            assertThat(commands.texts("CONFIG", "GET", "maxmemory")).containsExactly("maxmemory", "12582912");
            assertThat(commands.texts("CONFIG", "GET", "appendonly")).containsExactly("appendonly", "yes");
            assertThat(commands.call("DEBUG", "SLEEP", "0")).isEqualTo("OK");
        }
    }

    @Test
    void shouldShowTheLogWhenTheServerDoesNotStart() {
        assertThatThrownBy(() -> RedisServer.start(RedisSettings.defaults().with("no-such-setting 1")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ended before it answered")
                .hasMessageContaining("no-such-setting");
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
