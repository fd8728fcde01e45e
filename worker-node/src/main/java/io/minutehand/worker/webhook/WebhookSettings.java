package io.minutehand.worker.webhook;

import io.minutehand.core.job.Allowed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How webhooks are sent. Immutable.
 *
 * @param secrets that sign, 1 to 4; a receiver accepts either of two while one takes the place of the other
 * @param allowed hosts and ports that may be reached although they are not public, not on port 443 or without TLS
 * @param connectTimeout how long a connection may take to stand, 10 ms to 1 min
 * @param timeout how long a delivery may take in all, 10 ms to 5 min
 * @param perHost deliveries to one host at the same time, 1 to 1024; leave slots for other hosts
 * @param trust PEM file with certificates to trust instead of the platform's, or null
 */
public record WebhookSettings(
        List<Secret> secrets,
        Set<HostPort> allowed,
        Duration connectTimeout,
        Duration timeout,
        int perHost,
        @Nullable Path trust) {
    private static final int MOST_SECRETS = 4;
    private static final int MOST_PER_HOST = 1024;
    private static final Duration LEAST = Duration.ofMillis(10);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException that names the setting, its value and what is allowed
     */
    public WebhookSettings {
        secrets = List.copyOf(secrets);
        allowed = Set.copyOf(allowed);
        Allowed.requireWithin("secrets", secrets.size(), 1, MOST_SECRETS);
        // The command line knows this time-out alone, and cuts the other to it.
        Allowed.requireWithin("timeout", timeout, LEAST, Duration.ofMinutes(5));
        Allowed.requireWithin("connectTimeout", connectTimeout, LEAST, Duration.ofMinutes(1));
        Allowed.requireWithin("perHost", perHost, 1, MOST_PER_HOST);
    }

    /** Signed by this secret, to public hosts alone: 2 s to connect, 10 s in all, 32 at a time for a host. */
    public static WebhookSettings signedBy(Secret secret) {
        return new WebhookSettings(List.of(secret), Set.of(), Duration.ofSeconds(2), Duration.ofSeconds(10), 32, null);
    }

    public WebhookSettings withSecrets(List<Secret> value) {
        return new WebhookSettings(value, allowed, connectTimeout, timeout, perHost, trust);
    }

    public WebhookSettings withAllowed(Set<HostPort> value) {
        return new WebhookSettings(secrets, value, connectTimeout, timeout, perHost, trust);
    }

    public WebhookSettings withTimeouts(Duration connect, Duration all) {
        return new WebhookSettings(secrets, allowed, connect, all, perHost, trust);
    }

    public WebhookSettings withPerHost(int value) {
        return new WebhookSettings(secrets, allowed, connectTimeout, timeout, value, trust);
    }

    public WebhookSettings withTrust(Path value) {
        return new WebhookSettings(
                secrets, allowed, connectTimeout, timeout, perHost, Objects.requireNonNull(value, "trust"));
    }
}
