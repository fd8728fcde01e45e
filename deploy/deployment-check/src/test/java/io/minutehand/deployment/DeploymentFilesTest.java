package io.minutehand.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The files that deploy the product are right, as far as that can be seen without what they are for; and each check sees an error that is planted. */
class DeploymentFilesTest {
    private static final Check DOCKERFILE = new DockerfileCheck();
    private static final Check COMPOSE = new ComposeCheck();
    private static final Check KUBERNETES = new KubernetesCheck();
    private static final Check SYSTEMD = new SystemdCheck();
    private static final Check REDIS = new RedisCheck();
    private static final Check MONITORING = new MonitoringCheck();
    private static final Check SETTINGS = new SettingsCheck();
    private static final List<Check> ALL =
            List.of(DOCKERFILE, COMPOSE, KUBERNETES, SYSTEMD, REDIS, MONITORING, SETTINGS);
    private static final List<String> COPIED =
            List.of("docker", "compose", "kubernetes", "systemd", "redis", "monitoring", "settings", "README.md");

    @TempDir
    private Path copy;

    /**
     * An error.
     *
     * @param check whose business it is
     * @param file where it is planted
     * @param right what stands there
     * @param wrong what stands there instead
     * @param told what the problem says, among other things
     */
    private record Planted(Check check, String file, String right, String wrong, String told) {
        @Override
        public String toString() {
            return file + ": " + wrong.strip() + " instead of " + right.strip();
        }
    }

    private static Planted planted(Check check, String file, String right, String wrong, String told) {
        return new Planted(check, file, right, wrong, told);
    }

    private static List<Planted> errors() {
        return List.of(
                // The Dockerfile
                planted(DOCKERFILE, "docker/Dockerfile", "USER 10001:10001", "USER root", "USER: root"),
                planted(
                        DOCKERFILE,
                        "docker/Dockerfile",
                        "FROM eclipse-temurin:17.0.15_6-jre",
                        "FROM eclipse-temurin:latest",
                        "not pinned"),
                planted(DOCKERFILE, "docker/Dockerfile", "EXPOSE 8080 9090", "EXPOZE 8080 9090", "no such instruction"),
                planted(DOCKERFILE, "docker/Dockerfile", "healthy\", \"9090\"]", "healthy\", \"9999\"]", "port 9999"),
                planted(DOCKERFILE, "docker/Dockerfile", "CMD [\"--help\"]", "CMD --help", "exec form"),
                planted(
                        DOCKERFILE,
                        "docker/Dockerfile",
                        "ENTRYPOINT [\"java\",",
                        "ENTRYPOINT [\"sh\", \"-c\", \"java\",",
                        "JVM itself"),
                planted(DOCKERFILE, "docker/Dockerfile", "--from=build", "--from=built", "no stage built"),
                planted(
                        DOCKERFILE,
                        "docker/Dockerfile",
                        "COPY --chmod=0555 deploy/docker/healthy",
                        "COPY deploy/docker/health",
                        "no file"),
                // Compose
                planted(COMPOSE, "compose/compose.yaml", "read_only: true", "readonly: true", "/services/"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "--admin-port=9090",
                        "--admin-port=9091",
                        "health check of the image asks 9090"),
                planted(COMPOSE, "compose/compose.yaml", "--keys=", "--key=", "Unknown option"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "127.0.0.1:8080:8080",
                        "127.0.0.1:8080:9090",
                        "the API listens on"),
                planted(COMPOSE, "compose/compose.yaml", "127.0.0.1:8081:8080", "8081:8080", "open to every network"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "stop_grace_period: 45s",
                        "stop_grace_period: 10s",
                        "too short"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "condition: service_healthy",
                        "condition: service_helthy",
                        "depends_on"),
                planted(COMPOSE, "compose/compose.yaml", "image: redis:7.2.7", "image: redis:latest", "not pinned"),
                planted(COMPOSE, "compose/compose.yaml", "  redis-data: {}\n", "", "no volume redis-data"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "- ../redis/redis.conf:",
                        "- ../redis/redis.config:",
                        "no file deploy/redis/redis.config"),
                planted(
                        COMPOSE,
                        "compose/compose.yaml",
                        "GF_SECURITY_ADMIN_PASSWORD__FILE: /run/secrets/grafana-password",
                        "GF_SECURITY_ADMIN_PASSWORD: letmein",
                        "is a secret"),
                planted(COMPOSE, "compose/worker.properties", "--slots=64", "--slot=64", "Unknown option"),
                planted(COMPOSE, "compose/worker.properties", "--slots=64", "--slots=many", "--slots"),
                planted(COMPOSE, "compose/prometheus.yml", "router-2:9090", "router-2:8080", "not the admin port"),
                planted(COMPOSE, "compose/prometheus.yml", "router-2:9090", "router-3:9090", "no service router-3"),
                planted(COMPOSE, "compose/prometheus.yml", "scrape_interval", "scrape_intervall", "/global"),
                planted(
                        COMPOSE,
                        "compose/prometheus.yml",
                        "/etc/prometheus/alerts.yml",
                        "/etc/alerts.yml",
                        "mounts the alerts"),
                planted(
                        COMPOSE,
                        "compose/grafana/datasources.yml",
                        "http://prometheus:9090",
                        "http://prometheus:9091",
                        "is not the Prometheus"),
                // Kubernetes
                planted(
                        KUBERNETES,
                        "kubernetes/base/router.yaml",
                        "terminationGracePeriodSeconds: 50",
                        "terminationGracePeriodSeconds: 30",
                        "too short"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/router.yaml",
                        "containerPort: 9090",
                        "containerPort: 9191",
                        "it listens on"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/router.yaml",
                        "path: /readyz",
                        "path: /ready",
                        "readinessProbe must ask"),
                planted(KUBERNETES, "kubernetes/base/router.yaml", "containers:", "container:", "container"),
                planted(KUBERNETES, "kubernetes/base/router.yaml", "replicas: 2", "replicas: two", "/spec/replicas"),
                planted(KUBERNETES, "kubernetes/base/router.yaml", "targetPort: api", "targetPort: http", "targetPort"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/router.yaml",
                        "--host=0.0.0.0",
                        "--host=127.0.0.1",
                        "must be 0.0.0.0"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/router.yaml",
                        "secretName: minutehand-keys",
                        "secretNam: minutehand-keys",
                        "secretNam"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/worker.yaml",
                        "--webhook-secrets=",
                        "--webhook-secret=",
                        "Unknown option"),
                planted(KUBERNETES, "kubernetes/base/worker.yaml", "runAsNonRoot: true", "runAsNonRoot: false", "root"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/worker.yaml",
                        "prometheus.io/port: \"9090\"",
                        "prometheus.io/port: \"9091\"",
                        "prometheus.io/port"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/worker.yaml",
                        "maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: worker",
                        "maxUnavailable: 1\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: workers",
                        "selects no workload"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/network-policy.yaml",
                        "kubernetes.io/metadata.name: monitoring",
                        "kubernetes.io/metadata.name: default",
                        "others than the monitoring"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/network-policy.yaml",
                        "port: 8080",
                        "port: 9090",
                        "others than the monitoring"),
                planted(
                        KUBERNETES,
                        "kubernetes/base/network-policy.yaml",
                        "                  - worker\n",
                        "",
                        "opens Redis to"),
                planted(KUBERNETES, "kubernetes/base/kustomization.yaml", "  - worker.yaml\n", "", "does not list it"),
                planted(
                        KUBERNETES,
                        "kubernetes/overlays/single/redis.yaml",
                        "image: redis:7.2.7",
                        "image: redis",
                        "not pinned"),
                planted(
                        KUBERNETES,
                        "kubernetes/overlays/single/router.properties",
                        "--deadline=5000",
                        "--deadlines=5000",
                        "Unknown option"),
                planted(
                        KUBERNETES,
                        "kubernetes/overlays/production/kustomization.yaml",
                        "router.properties",
                        "routers.properties",
                        "routers.properties"),
                planted(
                        KUBERNETES,
                        "kubernetes/overlays/production/autoscaling.yaml",
                        "name: minutehand_topic_oldest_due_seconds",
                        "name: minutehand_topic_oldest_seconds",
                        "no rule of the adapter"),
                planted(
                        KUBERNETES,
                        "kubernetes/overlays/production/autoscaling.yaml",
                        "maxReplicas: 12",
                        "maxReplica: 12",
                        "maxReplica"),
                // systemd
                planted(
                        SYSTEMD,
                        "systemd/minutehand-router.service",
                        "Restart=on-failure",
                        "Restarts=on-failure",
                        "no setting"),
                planted(
                        SYSTEMD,
                        "systemd/minutehand-router.service",
                        "TimeoutStopSec=45",
                        "TimeoutStopSec=20",
                        "too short"),
                planted(
                        SYSTEMD,
                        "systemd/minutehand-router.service",
                        "@/etc/minutehand/router.properties",
                        "--ports=8080",
                        "Unknown option"),
                planted(
                        SYSTEMD,
                        "systemd/minutehand-worker@.service",
                        "worker --name=",
                        "worker --slots=64 --slots=",
                        "refuses"),
                planted(SYSTEMD, "systemd/minutehand-worker@.service", "User=minutehand", "User=root", "root"),
                // Redis
                planted(
                        REDIS,
                        "redis/redis.conf",
                        "maxmemory-policy noeviction",
                        "maxmemory-policy allkeys-lru",
                        "must be noeviction"),
                planted(REDIS, "redis/redis.conf", "appendonly yes", "appendonly no", "must be yes"),
                planted(REDIS, "redis/redis.conf", "tcp-keepalive 60", "tcp-keep-alive 60", "is no setting"),
                planted(REDIS, "redis/users.acl", " +zscan", "", "+zscan"),
                planted(REDIS, "redis/users.acl", "-@all +ping\n", "-@all +ping +info\n", "more than ping"),
                // Monitoring
                planted(
                        MONITORING,
                        "monitoring/alerts.yml",
                        "minutehand_topic_oldest_due_seconds) > 5",
                        "minutehand_topic_oldest_due) > 5",
                        "no service shows a metric minutehand_topic_oldest_due "),
                planted(MONITORING, "monitoring/alerts.yml", "for: 1m", "fore: 1m", "fore"),
                planted(MONITORING, "monitoring/alerts.yml", "severity: critical", "severity: urgent", "severity"),
                planted(
                        MONITORING,
                        "monitoring/alerts.yml",
                        "alert: MinutehandLate\n",
                        "alert: MinutehandTooLate\n",
                        "no heading"),
                planted(
                        MONITORING,
                        "monitoring/dashboard.json",
                        "sum(minutehand_node_ready)",
                        "sum(minutehand_nodes_ready)",
                        "minutehand_nodes_ready"),
                planted(MONITORING, "monitoring/dashboard.json", "\"expr\"", "\"expression\"", "expression"),
                planted(
                        MONITORING,
                        "monitoring/dashboard.json",
                        "\"x\": 8,\n        \"y\": 6",
                        "\"x\": 7,\n        \"y\": 6",
                        "lies on"),
                planted(
                        MONITORING,
                        "monitoring/dashboard.json",
                        "label_values(minutehand_topic_pending, topic)",
                        "label_values(minutehand_pending, topic)",
                        "minutehand_pending"),
                planted(
                        MONITORING,
                        "monitoring/adapter-rules.yml",
                        "max(minutehand_topic_oldest_due_seconds{",
                        "max(minutehand_oldest_due_seconds{",
                        "minutehand_oldest_due_seconds"),
                // The manual of the settings
                planted(
                        SETTINGS,
                        "settings/router.properties",
                        "#--deadline=5000",
                        "#--deadlin=5000",
                        "--deadlin: is no option"),
                planted(
                        SETTINGS,
                        "settings/router.properties",
                        "#--replicas=0\n",
                        "",
                        "--replicas: is an option of router, and not explained"),
                planted(
                        SETTINGS,
                        "settings/router.properties",
                        "Default: 30000",
                        "Default: 20000",
                        "default 30000, and the text says 20000"),
                planted(SETTINGS, "settings/worker.properties", "#--slots=64", "#--slots=32", "the line shows 32"),
                planted(
                        SETTINGS,
                        "settings/worker.properties",
                        "# Unit: ms. Default: 10000.\n",
                        "",
                        "wants a sentence"),
                planted(SETTINGS, "settings/worker.properties", "--admin-port=9091", "--admin-port=x", "refuses"));
    }

    private static List<Check> checks() {
        return ALL;
    }

    @ParameterizedTest
    @MethodSource("checks")
    void shouldFindNothingWrong(Check check) {
        assertThat(check.problems(DeployFolder.real())).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("errors")
    void shouldFindWhatIsPlanted(Planted error) throws IOException {
        DeployFolder planted = copyWith(error.file(), error.right(), error.wrong());

        List<Problem> problems = error.check().problems(planted);

        assertThat(problems).as(error.toString()).isNotEmpty();
        assertThat(problems.toString()).contains(error.told());
    }

    @ParameterizedTest
    @MethodSource("checks")
    void shouldTellOfEachFileThatIsBrokenOrGone(Check check) throws IOException {
        String file = errors().stream()
                .filter(error -> error.check() == check)
                .findFirst()
                .orElseThrow()
                .file();
        DeployFolder gone = copyWith(file, "", "");
        Files.delete(gone.root().resolve(file));
        assertThat(check.problems(gone)).as("no %s", file).isNotEmpty();
    }

    @Test
    void shouldReadTheMetricsOfAnExpression() {
        assertThat(
                        MetricNames.in(
                                "histogram_quantile(0.99, sum by (topic, le) (rate(a_bucket{topic=~\"b|c\"}[$__rate_interval]))) > 1e3"))
                .containsExactly("a_bucket");
        assertThat(MetricNames.in("max by (x) (a) - (max(a offset 15m) or b * 0) unless on (x) (c > 0)"))
                .containsExactly("a", "b", "c");
        assertThat(MetricNames.in("a * on (instance) group_left (job) b")).containsExactly("a", "b");
    }

    /** A copy of the folder in which one text has another in its place, wherever it stands. */
    private DeployFolder copyWith(String file, String right, String wrong) throws IOException {
        DeployFolder real = DeployFolder.real();
        Path deploy = Files.createDirectories(copy.resolve("deploy"));
        Files.copy(real.root().resolve("../README.md"), copy.resolve("README.md"));
        for (String each : COPIED) {
            try (Stream<Path> tree = Files.walk(real.root().resolve(each))) {
                for (Path path : tree.toList()) {
                    Path target = deploy.resolve(real.root().relativize(path).toString());
                    if (Files.isDirectory(path)) {
                        Files.createDirectories(target);
                    } else {
                        Files.copy(path, target);
                    }
                }
            }
        }
        String text = Files.readString(deploy.resolve(file));
        assertThat(text).as(file).contains(right);
        if (!right.isEmpty()) {
            Files.writeString(deploy.resolve(file), text.replace(right, wrong));
        }
        return new DeployFolder(deploy);
    }
}
