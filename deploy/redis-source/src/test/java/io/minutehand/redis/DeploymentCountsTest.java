package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class DeploymentCountsTest {
    @TempDir
    Path directory;

    static class Shared {
        @BeforeAll
        static void start() {
            Deployment.SINGLE.note();
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        void shouldUseWhatTheClassStarted(int number) {
            assertThat(number).isPositive();
        }

        @Test
        void shouldStartAnother() throws InterruptedException {
            Thread starter = new Thread(Deployment.CLUSTER::note);
            starter.start();
            starter.join();
            Deployment.TLS.note();
        }

        @Test
        void shouldBeSkipped() {
            assumeTrue(false);
        }

        @Nested
        class Inner {
            @Test
            void shouldUseItToo() {}
        }
    }

    static class None {
        @Test
        void shouldUseNoRedis() {}
    }

    @Test
    void shouldCountEachTestByWhatItRanOn() throws Exception {
        Path file = directory.resolve("counts");
        var launcher = LauncherFactory.create(LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .build());

        launcher.execute(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(selectClass(Shared.class), selectClass(None.class))
                        .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
                        .build(),
                new DeploymentCounts(file));

        List<String> lines = Files.readAllLines(file).stream()
                .map(line -> line.split(" ", 3)[0] + " " + line.split(" ", 3)[1])
                .sorted()
                .toList();
        assertThat(lines)
                .containsExactly(
                        "cluster SUCCESSFUL",
                        "single ABORTED",
                        "single SUCCESSFUL",
                        "single SUCCESSFUL",
                        "single SUCCESSFUL",
                        "tls SUCCESSFUL");
    }
}
