package io.minutehand.postgres;

import io.minutehand.source.Passwords;
import io.minutehand.source.SourceKind;
import io.minutehand.source.Waiting;
import java.time.Duration;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** A PostgreSQL in a container. The only class that needs Testcontainers, which is optional: load it after the probe. */
final class DockerPostgres implements PostgresInstance {

    private static final int PORT = 5432;
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final GenericContainer<?> container;
    private final String password;
    private final String version;

    private DockerPostgres(GenericContainer<?> container, String password) {
        this.container = container;
        this.password = password;
        String[] seen = {""};
        // The port of the container is open before the server behind it is.
        Waiting.until(
                "PostgreSQL in a container of " + PostgresSource.IMAGE + " to answer",
                START_LIMIT,
                () -> {
                    seen[0] = Jdbc.versionOf(url());
                    return true;
                },
                () -> "its log says: " + container.getLogs());
        this.version = seen[0];
    }

    /** Starts a container and waits until it answers. */
    static DockerPostgres start() {
        String password = Passwords.random();
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(PostgresSource.IMAGE))
                .withExposedPorts(PORT)
                .withEnv("POSTGRES_PASSWORD", password)
                .withCommand("postgres", "-c", "fsync=off");
        container.start();
        return new DockerPostgres(container, password);
    }

    @Override
    public String url() {
        return "jdbc:postgresql://" + container.getHost() + ":" + container.getMappedPort(PORT)
                + "/postgres?user=postgres&password=" + password;
    }

    @Override
    public SourceKind kind() {
        return SourceKind.DOCKER;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public String describe() {
        return "source=docker PostgreSQL " + version + " in a container of " + PostgresSource.IMAGE;
    }

    @Override
    public void close() {
        container.stop();
    }
}
