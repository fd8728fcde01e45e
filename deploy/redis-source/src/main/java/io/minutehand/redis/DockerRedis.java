package io.minutehand.redis;

import io.minutehand.source.Passwords;
import io.minutehand.source.SourceKind;
import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/** A Redis in a container. The only class that needs Testcontainers, which is optional: load it after the probe. */
final class DockerRedis implements RedisInstance {

    static final String IMAGE = "redis:7.2-alpine";

    private static final int PORT = 6379;
    private static final String CONFIG = "/etc/minutehand-redis.conf";

    private final GenericContainer<?> container;
    private final String password;
    private final String version;

    private DockerRedis(GenericContainer<?> container, String password) {
        this.container = container;
        this.password = password;
        try (RedisCommands commands = connect()) {
            this.version = commands.info("server").getOrDefault("redis_version", "0");
        }
    }

    /** Starts a container and waits until its port answers. */
    static DockerRedis start(RedisSettings settings) {
        String password = settings.password() == null ? Passwords.random() : settings.password();
        List<String> config = new ArrayList<>(settings.toConfig(password));
        // Inside the container the caller's address is the bridge's, never loopback.
        config.replaceAll(line -> line.equals("enable-debug-command local") ? "enable-debug-command yes" : line);
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(IMAGE))
                .withExposedPorts(PORT)
                .withCopyToContainer(Transferable.of(String.join("\n", config) + "\n"), CONFIG)
                .withCommand("redis-server", CONFIG);
        container.start();
        return new DockerRedis(container, password);
    }

    @Override
    public String uri() {
        return "redis://:" + password + "@" + container.getHost() + ":" + container.getMappedPort(PORT);
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
        return "source=docker Redis " + version + " in a container of " + IMAGE;
    }

    @Override
    public RedisCommands connect() {
        return RedisCommands.connect(uri());
    }

    @Override
    public void close() {
        container.stop();
    }
}
