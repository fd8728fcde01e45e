package io.minutehand.router.http;

import io.minutehand.core.job.Allowed;
import io.minutehand.core.job.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How the HTTP router listens, and its limits. {@code payloadBytes} is to be that of its {@code JobRouter}.
 *
 * @param host name or address to listen on
 * @param port 0 = any free one
 * @param keys file of API keys, or null = everybody may do everything
 * @param certificate PEM file with the certificate chain, or null = no TLS
 * @param privateKey PEM file with its key (PKCS8), or null
 * @param eventLoops threads that serve connections, 1 to 64
 * @param payloadBytes bytes of a job's payload, at most
 * @param batchBytes bytes of a batch that is an array, at most
 * @param connections at the same time, at most
 * @param connectionsPerAddress of one client address, at most
 * @param requests under way at the same time, at most
 * @param bodyBytes bytes of bodies that are held at the same time, at most
 * @param idle how long a connection may take from one answer to the next complete head of a request, 1 s or more
 * @param body how long a body may take, or a stream be silent, 100 ms or more
 */
record HttpSettings(
        String host,
        int port,
        @Nullable Path keys,
        @Nullable Path certificate,
        @Nullable Path privateKey,
        int eventLoops,
        int payloadBytes,
        int batchBytes,
        int connections,
        int connectionsPerAddress,
        int requests,
        long bodyBytes,
        Duration idle,
        Duration body) {
    /** Jobs of a batch that is an array, at most. */
    static final int BATCH_JOBS = 500;

    /** What a job brings besides its payload: business id, headers, names. */
    private static final int AROUND_PAYLOAD_BYTES = 64 * 1024;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException that names the setting, its value and what is allowed
     */
    HttpSettings {
        Allowed.requireWithin("port", port, 0, 65535);
        Allowed.requireWithin("event-loops", eventLoops, 1, 64);
        Allowed.requireWithin("payload-bytes", payloadBytes, 1, Limits.PAYLOAD_BYTES_CEILING);
        Allowed.require(
                batchBytes >= bodyLimit(payloadBytes) && batchBytes <= 64 * 1024 * 1024,
                "batch-bytes",
                batchBytes,
                bodyLimit(payloadBytes) + " (the largest job) to 67108864");
        Allowed.require(connections >= 1, "connections", connections, "1 and more");
        Allowed.require(connectionsPerAddress >= 1, "connections-per-address", connectionsPerAddress, "1 and more");
        Allowed.require(requests >= 1, "requests", requests, "1 and more");
        Allowed.require(bodyBytes >= batchBytes, "body-bytes", bodyBytes, batchBytes + " (a largest batch) and more");
        Allowed.require(idle.toMillis() >= 1000, "idle-timeout", idle, "1 s and more");
        Allowed.require(body.toMillis() >= 100, "body-timeout", body, "100 ms and more");
        Allowed.require(
                (certificate == null) == (privateKey == null),
                "tls-certificate and tls-key",
                certificate + " and " + privateKey,
                "both or none");
    }

    /** The defaults, on loopback. */
    static HttpSettings defaults() {
        return new HttpSettings(
                "127.0.0.1",
                8080,
                null,
                null,
                null,
                Math.max(1, Math.min(8, Runtime.getRuntime().availableProcessors())),
                Limits.PAYLOAD_BYTES,
                4 * 1024 * 1024,
                10_000,
                10_000,
                10_000,
                64L * 1024 * 1024,
                Duration.ofSeconds(30),
                Duration.ofSeconds(15));
    }

    HttpSettings withPort(int value) {
        return with(draft -> draft.port = value);
    }

    HttpSettings withKeys(Path value) {
        return with(draft -> draft.keys = value);
    }

    HttpSettings withTls(Path newCertificate, Path newPrivateKey) {
        return with(draft -> {
            draft.certificate = newCertificate;
            draft.privateKey = newPrivateKey;
        });
    }

    HttpSettings withTimeouts(Duration newIdle, Duration newBody) {
        return with(draft -> {
            draft.idle = newIdle;
            draft.body = newBody;
        });
    }

    HttpSettings withMost(int newConnectionsPerAddress, int newRequests) {
        return with(draft -> {
            draft.connectionsPerAddress = newConnectionsPerAddress;
            draft.requests = newRequests;
        });
    }

    private HttpSettings with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return new HttpSettings(
                host,
                draft.port,
                draft.keys,
                draft.certificate,
                draft.privateKey,
                eventLoops,
                payloadBytes,
                batchBytes,
                connections,
                draft.connectionsPerAddress,
                draft.requests,
                bodyBytes,
                draft.idle,
                draft.body);
    }

    /** What may be changed, on its way into settings that are checked as a whole. */
    private static final class Draft {
        private int port;
        private @Nullable Path keys;
        private @Nullable Path certificate;
        private @Nullable Path privateKey;
        private int connectionsPerAddress;
        private int requests;
        private Duration idle;
        private Duration body;

        Draft(HttpSettings from) {
            port = from.port;
            keys = from.keys;
            certificate = from.certificate;
            privateKey = from.privateKey;
            connectionsPerAddress = from.connectionsPerAddress;
            requests = from.requests;
            idle = from.idle;
            body = from.body;
        }
    }

    /** Bytes of a body or line with one job: its payload may be Base64. */
    int jobBytes() {
        return bodyLimit(payloadBytes);
    }

    private static int bodyLimit(int payloadBytes) {
        return (payloadBytes + 2) / 3 * 4 + AROUND_PAYLOAD_BYTES;
    }
}
