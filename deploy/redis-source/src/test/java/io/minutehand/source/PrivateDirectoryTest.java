package io.minutehand.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;

class PrivateDirectoryTest {

    @Test
    void shouldRunProcessesInsideAndEndThem() throws IOException {
        PrivateDirectory directory = PrivateDirectory.create("test");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.path())))
                .isEqualTo("rwx------");
        Process process =
                directory.start(new ProcessBuilder("sh", "-c", "pwd; mkdir -p a/b; echo x > a/b/c; exec cat"));
        assertThat(process.inputReader(StandardCharsets.UTF_8).readLine())
                .isEqualTo(directory.path().toString());

        directory.close();
        directory.close();

        assertThat(process.isAlive()).isFalse();
        assertThat(directory.path()).doesNotExist();
        assertThatThrownBy(() -> directory.start(new ProcessBuilder("true")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void shouldEndGrandchildrenThatStillWrite() throws IOException {
        PrivateDirectory directory = PrivateDirectory.create("test");
        // The shell is killed by its id; its child is not known to the JVM and keeps making files.
        Process process = directory.start(
                new ProcessBuilder("sh", "-c", "(while :; do i=$((i+1)); : > f$i; done) & echo $!; wait"));
        long grandchild =
                Long.parseLong(process.inputReader(StandardCharsets.UTF_8).readLine());
        ProcessHandle handle = ProcessHandle.of(grandchild).orElseThrow();

        directory.close();

        assertThat(directory.path()).doesNotExist();
        // It is dead now, but counts as alive until its new parent has taken note.
        await("the grandchild is reaped").until(() -> !handle.isAlive());
    }

    @Test
    void shouldSayWhichProgramIsMissing() {
        try (PrivateDirectory directory = PrivateDirectory.create("test")) {
            assertThatThrownBy(() -> directory.start(new ProcessBuilder("/no/such/program")))
                    .hasMessageContaining("/no/such/program");
        }
    }
}
