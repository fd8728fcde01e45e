package io.minutehand.loadtest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code deploy/minutehand} itself, in a repository with a jar that is up to date, with a shell script that
 * stands for the JVM.
 */
class LauncherTest {
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String PUT_BACK = "\u001b[?1047l\u001b[?25h";

    @TempDir
    Path root;

    @BeforeEach
    void makeARepository() throws IOException {
        write("deploy/minutehand", Files.readString(Path.of("../deploy/minutehand")));
        write("pom.xml", "");
        for (String module :
                List.of("deploy/redis-source", "scheduler-core", "shard-router", "worker-node", "load-test")) {
            write(module + "/pom.xml", "");
            write(module + "/src/main/Some.java", "");
        }
        write("load-test/target/minutehand.jar", "");
    }

    @Test
    void shouldPutTheTerminalBackWhenTheJvmIsKilled() throws Exception {
        java("printf '%s' '" + ENTER + "'; kill -9 $$");

        Ended ended = onATerminal("demo");

        assertThat(ended.status()).isEqualTo(137);
        assertThat(ended.output()).contains(ENTER, PUT_BACK, "the Java process was ended by signal 9");
        assertThat(ended.output().indexOf(PUT_BACK))
                .isGreaterThan(ended.output().indexOf(ENTER));
    }

    @Test
    void shouldLeaveTheTerminalToAJvmThatEndsByItself() throws Exception {
        for (int status : new int[] {0, 1, 3, 130, 143}) {
            java("exit " + status);

            Ended ended = onATerminal("demo");

            assertThat(ended.status()).isEqualTo(status);
            assertThat(ended.output()).doesNotContain("\u001b", "signal");
        }
    }

    @Test
    void shouldGiveTheJvmItsArgumentsAndWhatItNeedsToKnow() throws Exception {
        java("printf '<%s>' \"$@\"; echo \" parent $PPID\"");

        String terminal = onATerminal("demo", "--jobs", "7").output();
        String pipe = run(List.of(launcher(), "demo", "a b", "")).output();

        assertThat(terminal)
                .contains("<-Dminutehand.terminal=true>", "<demo><--jobs><7>")
                .containsPattern("<-Dminutehand.launcher=(\\d+)>.* parent \\1");
        assertThat(pipe)
                .contains("<-Dminutehand.terminal=false>", "<demo><a b><>")
                .doesNotContain("minutehand.launcher");
    }

    @Test
    void shouldRunTheOrderDemoFromAJarOfItsOwn() throws Exception {
        for (String module : List.of("deploy/postgres-source", "deploy/order-demo")) {
            write(module + "/pom.xml", "");
            write(module + "/src/main/Some.java", "");
        }
        write("deploy/order-demo/target/minutehand-order-demo.jar", "");
        java("printf '<%s>' \"$@\"");

        for (Ended ended : List.of(
                run(List.of(launcher(), "order-demo", "--orders", "7")), onATerminal("order-demo", "--orders", "7"))) {
            assertThat(ended.output())
                    .contains("<-jar><" + root.toRealPath() + "/deploy/order-demo/target/minutehand-order-demo.jar>"
                            + "<--orders><7>")
                    .doesNotContain("minutehand.launcher", "<order-demo>");
        }
        assertThat(run(List.of(launcher(), "demo")).output()).contains("load-test/target/minutehand.jar><demo>");
    }

    @Test
    void shouldRunTheJarThatItIsGivenAndBuildNothing() throws Exception {
        java("printf '<%s>' \"$@\"");
        Files.delete(root.resolve("load-test/target/minutehand.jar"));
        write("given.jar", "");
        String given = "MINUTEHAND_JAR=" + root.resolve("given.jar");

        assertThat(run(List.of("env", given, launcher(), "router")).output())
                .contains("<-jar><" + root.resolve("given.jar") + "><router>");
        Ended missing = run(List.of("env", given + "x", launcher(), "router"));
        assertThat(missing.output()).contains("MINUTEHAND_JAR is " + root.resolve("given.jarx"));
        assertThat(missing.status()).isEqualTo(1);
    }

    @Test
    void shouldBecomeTheJvmWhereThereIsNoTerminal() throws Exception {
        java("kill -9 $$");

        Ended ended = run(List.of(launcher(), "demo"));

        assertThat(ended.status()).as("killed itself").isEqualTo(137);
        assertThat(ended.output()).isEmpty();
    }

    @Test
    void shouldWantANewerJava() throws Exception {
        write("jdk/bin/java", "#!/bin/sh\necho 'java version \"1.8.0_402\"' >&2\n");

        Ended ended = run(List.of(launcher(), "demo"));

        assertThat(ended.status()).isEqualTo(1);
        assertThat(ended.output()).contains("Java 17 or newer is needed", "1.8.0_402");
    }

    private record Ended(int status, String output) {}

    /** Runs the launcher on a terminal of its own, as the program {@code script} of util-linux makes one. */
    private Ended onATerminal(String... arguments) throws Exception {
        boolean there = Files.isExecutable(Path.of("/usr/bin/script"));
        assumeTrue(there || System.getenv("CI") != null, "no program script, so there is no terminal to try it on");
        List<String> command = new ArrayList<>(List.of("script", "--quiet", "--return", "--command"));
        command.add(launcher() + " " + String.join(" ", arguments));
        command.add("/dev/null");
        return run(command);
    }

    private Ended run(List<String> command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", root.resolve("jdk").toString());
        builder.environment().remove("MINUTEHAND_JAVA_OPTIONS");
        Process process = builder.start();
        process.getOutputStream().close();
        try (InputStream output = process.getInputStream()) {
            String said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), said);
        }
    }

    private String launcher() {
        return root.resolve("deploy/minutehand").toString();
    }

    /** Makes the JVM one that tells its version, and else does this. */
    private void java(String otherwise) throws IOException {
        write(
                "jdk/bin/java",
                "#!/bin/sh\nif [ \"$1\" = -version ]; then echo 'openjdk version \"17.0.1\"' >&2; exit 0; fi\n"
                        + otherwise + "\n");
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
    }
}
