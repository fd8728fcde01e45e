package io.minutehand.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.source.SourceKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PostgresServerIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void shouldRunTheEmbeddedProgramsAndKeepWhatWasCommittedOverAKill() throws SQLException {
        try (PostgresServer server = PostgresServer.start(PostgresBinary.embedded(), false)) {
            assertThat(server.kind()).isEqualTo(SourceKind.EMBEDDED);
            assertThat(server.version()).isEqualTo("15.8");
            execute(server, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (7)");
            try (Connection open = server.dataSource().getConnection()) {
                long before = server.pid();
                server.kill();
                assertThat(processesIn(server.directory())).isEmpty();
                server.restart();
                assertThat(server.pid()).isNotEqualTo(before);
                assertThat(open.isValid(1)).isFalse();
            }
            assertThat(number(server, "SELECT id FROM kept")).isEqualTo(7);
            assertThat(text(server, "SHOW fsync")).isEqualTo("off");
        }
    }

    /** Each way that this machine allows; the installed programs where there are some. */
    @ParameterizedTest
    @EnumSource
    void shouldRunAsSomebodyElseThanRootAndLeaveNothingAfterClose(Unprivileged way) throws SQLException {
        assumeTrue(way.works() && (way != Unprivileged.UNCHANGED || !Unprivileged.isRoot()));
        PostgresServer server = PostgresServer.start(PostgresBinary.locate(), true, way);
        try (server) {
            assertThat(text(server, "SHOW fsync")).isEqualTo("on");
            server.restart();
            assertThat(number(server, "SELECT 1")).isEqualTo(1);
        }
        server.close();
        assertThat(processesIn(server.directory())).isEmpty();
        assertThat(server.directory()).doesNotExist();
    }

    @Test
    void shouldKeepSchemasOfTestsApart() throws SQLException {
        PostgresInstance shared = SharedPostgres.get();
        try (PostgresSchema one = SharedPostgres.newSchema(PostgresServerIT.class);
                PostgresSchema other = SharedPostgres.newSchema(PostgresServerIT.class)) {
            for (PostgresSchema schema : List.of(one, other)) {
                try (Connection connection = schema.dataSource().getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("CREATE TABLE orders (id int)");
                }
            }
            one.close();
            assertThatThrownBy(() -> number(shared, "SELECT count(*) FROM " + one.name() + ".orders"))
                    .isInstanceOf(SQLException.class);
            assertThat(number(shared, "SELECT count(*) FROM " + other.name() + ".orders"))
                    .isZero();
        }
        assertThat(shared.url()).contains("password");
        assertThat(shared.describe()).contains("source=").doesNotContain("password");
    }

    @Test
    void shouldLetNobodyInWithoutThePassword() {
        PostgresInstance shared = SharedPostgres.get();
        assumeTrue(shared instanceof PostgresServer);
        String wrong = shared.url().replaceAll("password=.*", "password=wrong");
        assertThatThrownBy(() -> ExternalPostgres.reach(wrong))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("127.0.0.1:" + ((PostgresServer) shared).port() + "/postgres");
        assertThat(ExternalPostgres.reach(shared.url()).version()).isEqualTo(shared.version());
    }

    @Test
    void shouldLeaveNothingWhenTheJvmIsKilled(@TempDir Path temporary) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServerInAnotherJvm.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            ProcessHandle server = ProcessHandle.of(pidOf(child)).orElseThrow();
            assertThat(temporary).isNotEmptyDirectory();
            child.destroyForcibly();
            assertThat(child.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            await("the server is gone").atMost(LIMIT).until(() -> !server.isAlive());
            await("its directories are gone")
                    .atMost(LIMIT)
                    .untilAsserted(() -> assertThat(temporary).isEmptyDirectory());
        } finally {
            child.destroyForcibly();
        }
    }

    private static long pidOf(Process child) throws IOException {
        BufferedReader out = child.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.startsWith("pid=")) {
                return Long.parseLong(line.substring("pid=".length()));
            }
        }
        throw new IllegalStateException("the child JVM ended early");
    }

    private static void execute(PostgresInstance server, String... sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String one : sql) {
                statement.execute(one);
            }
        }
    }

    private static int number(PostgresInstance server, String sql) throws SQLException {
        return Integer.parseInt(text(server, sql));
    }

    private static String text(PostgresInstance server, String sql) throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            assertThat(rows.next()).isTrue();
            return rows.getString(1);
        }
    }

    private static List<Long> processesIn(Path directory) {
        return ProcessHandle.allProcesses()
                .filter(process -> {
                    try {
                        return Files.readSymbolicLink(Path.of("/proc", Long.toString(process.pid()), "cwd"))
                                .startsWith(directory);
                    } catch (IOException e) {
                        return false;
                    }
                })
                .map(ProcessHandle::pid)
                .toList();
    }
}
