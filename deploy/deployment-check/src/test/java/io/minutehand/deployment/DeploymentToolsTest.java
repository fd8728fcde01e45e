package io.minutehand.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.source.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files before the programs for which they are, as far as those run without a cluster. */
class DeploymentToolsTest {
    private static final long LIMIT_S = 60;

    private final DeployFolder deploy = DeployFolder.real();

    @TempDir
    private Path scratch;

    private record Ended(int status, String said) {}

    /** What CI installs must be there in CI; other machines go without the test. */
    private static void requireInCi(String tool) {
        boolean isThere = Executables.find(tool).isPresent();
        assertThat(isThere || System.getenv("CI") == null)
                .as("%s is on the PATH: CI installs it", tool)
                .isTrue();
        assumeTrue(isThere, tool + " is not on the PATH");
    }

    private Ended run(String... command) throws IOException, InterruptedException {
        Path output = scratch.resolve("output");
        Process process = Executables.start(
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()));
        boolean ended = process.waitFor(LIMIT_S, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertThat(ended).as("%s ends", Arrays.toString(command)).isTrue();
        return new Ended(process.exitValue(), Files.readString(output));
    }

    private String path(String file) {
        return deploy.root().resolve(file).toString();
    }

    @Test
    void shouldHaveAlertsThatPrometheusTakes() throws Exception {
        requireInCi("promtool");
        assertThat(run("promtool", "check", "rules", path(MonitoringCheck.ALERTS)))
                .returns(0, Ended::status);
        assertThat(run("promtool", "test", "rules", path("monitoring/alerts_test.yml")))
                .returns(0, Ended::status);
        Path planted = scratch.resolve("planted.yml");
        Files.writeString(planted, deploy.text(MonitoringCheck.ALERTS).replace("unless on (topic)", "unless on topic"));
        assertThat(run("promtool", "check", "rules", planted.toString()))
                .as("an error that is planted")
                .returns(1, Ended::status);
    }

    /** Prometheus reads neither dashboards nor rules of the adapter, but rules of its own: each expression becomes one. */
    @Test
    void shouldHaveExpressionsThatPrometheusTakes() throws Exception {
        requireInCi("promtool");
        List<String> expressions = new ArrayList<>();
        MonitoringCheck.panelExpressions(deploy)
                .values()
                .forEach(expression -> expressions.add(expression.replace("$__rate_interval", "1m")));
        deploy.yaml(MonitoringCheck.ADAPTER)
                .findValuesAsText("metricsQuery")
                .forEach(query -> expressions.add(query.replace("<<.LabelMatchers>>", "namespace=\"minutehand\"")));
        assertThat(checkRules(expressions)).returns(0, Ended::status);
        expressions.add("sum by topic (minutehand_topic_pending)");
        assertThat(checkRules(expressions)).as("an error that is planted").returns(1, Ended::status);
    }

    private Ended checkRules(List<String> expressions) throws Exception {
        List<String> rules = new ArrayList<>(List.of("groups:", "  - name: expressions", "    rules:"));
        for (String expression : expressions) {
            rules.add("      - record: minutehand:" + rules.size());
            rules.add("        expr: '" + expression.replace("'", "''") + "'");
        }
        Path file = scratch.resolve("expressions.yml");
        Files.write(file, rules);
        return run("promtool", "check", "rules", file.toString());
    }

    @Test
    void shouldHaveAConfigurationThatPrometheusTakes() throws Exception {
        requireInCi("promtool");
        Path file = scratch.resolve("prometheus.yml");
        Files.writeString(
                file,
                deploy.text("compose/prometheus.yml")
                        .replace("/etc/prometheus/alerts.yml", path(MonitoringCheck.ALERTS)));
        assertThat(run("promtool", "check", "config", file.toString())).returns(0, Ended::status);
    }

    /** Not demanded of a machine: a container has no systemd. */
    @Test
    void shouldHaveUnitsThatSystemdTakes() throws Exception {
        assumeTrue(Executables.find("systemd-analyze").isPresent(), "systemd-analyze is not on the PATH");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/java")), "there is no /usr/bin/java, which the units start");
        for (String unit : SystemdCheck.UNITS) {
            Ended verified = run("systemd-analyze", "verify", "--man=no", path(unit));
            assertThat(verified).as(unit).returns(0, Ended::status);
            // An unknown setting is a warning to it.
            assertThat(verified.said())
                    .as(unit)
                    .doesNotContain(Path.of(unit).getFileName().toString());
        }
    }

    /** Not demanded of a machine, not even in CI. */
    @Test
    void shouldHaveOverlaysThatKustomizeBuilds() throws Exception {
        assumeTrue(Executables.find("kubectl").isPresent(), "kubectl is not on the PATH");
        for (String overlay : deploy.folders(KubernetesCheck.OVERLAYS)) {
            Ended built = run("kubectl", "kustomize", path(overlay));
            assertThat(built).as(built.said()).returns(0, Ended::status);
            assertThat(built.said()).contains("kind: Deployment", "name: router", "name: worker");
        }
    }
}
