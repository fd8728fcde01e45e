package io.minutehand.core.store;

import io.minutehand.core.bucket.Keyspace;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where Redis is and how to log in. Immutable; made from a URI:
 *
 * <pre>
 * redis://[user[:password]@]host[:port][/database]                   one server; rediss:// with TLS
 * redis+cluster://[user[:password]@]host:port[,host:port...]          Redis Cluster; rediss+cluster:// with TLS
 * redis+sentinel://[user[:password]@]host:port[,host:port...]/master  Sentinel; rediss+sentinel:// with TLS
 * </pre>
 *
 * <p>{@code :password@} names the default user. User and password are percent-decoded.
 *
 * @param mode the kind of deployment
 * @param tls whether connections are encrypted
 * @param addresses host:port, at least one
 * @param user ACL user, or null for the default user
 * @param password password, or null
 * @param database 0 but for a single server
 * @param master the master's name for Sentinel, else null
 * @param namespace prefix of all keys
 * @param trustStore certificates to trust instead of the JDK's, or null
 * @param trustStorePassword its password, or null
 * @param replyTimeout how long a call waits for its reply, 50 ms to 30 s
 * @param subscriptions how many channels the process may listen to
 * @param acceptsRisks whether to work with a server whose settings would lose jobs, see {@link ServerFacts#risks}
 */
public record RedisOptions(
        Mode mode,
        boolean tls,
        List<String> addresses,
        @Nullable String user,
        @Nullable String password,
        int database,
        @Nullable String master,
        String namespace,
        @Nullable Path trustStore,
        @Nullable String trustStorePassword,
        Duration replyTimeout,
        int subscriptions,
        boolean acceptsRisks) {
    /** The kind of deployment. */
    public enum Mode {
        SINGLE,
        CLUSTER,
        SENTINEL
    }

    private static final int DEFAULT_PORT = 6379;

    /**
     * Checks what the compiler cannot.
     *
     * @throws IllegalArgumentException that names the value out of range
     */
    public RedisOptions {
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(namespace, "namespace");
        Objects.requireNonNull(replyTimeout, "replyTimeout");
        addresses = List.copyOf(Objects.requireNonNull(addresses, "addresses"));
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("no Redis address given");
        }
        if (replyTimeout.toMillis() < 50 || replyTimeout.toMillis() > 30_000) {
            throw new IllegalArgumentException("replyTimeout=" + replyTimeout + ", allowed are 50 ms to 30 s");
        }
        new Keyspace(namespace);
    }

    /**
     * Options of a URI, see above; the reply time-out is 1 s, the namespace {@code mh}.
     *
     * @throws IllegalArgumentException when it is not such a URI; the message never holds the password
     */
    public static RedisOptions of(String uri) {
        Objects.requireNonNull(uri, "uri");
        int schemeEnd = uri.indexOf("://");
        String scheme = schemeEnd < 0 ? "" : uri.substring(0, schemeEnd);
        boolean tls = scheme.startsWith("rediss");
        Mode mode = switch (scheme) {
            case "redis", "rediss" -> Mode.SINGLE;
            case "redis+cluster", "rediss+cluster" -> Mode.CLUSTER;
            case "redis+sentinel", "rediss+sentinel" -> Mode.SENTINEL;
            default ->
                throw new IllegalArgumentException("Redis URI has the scheme \"" + scheme
                        + "\", known are redis, rediss, and either with +cluster or +sentinel");
        };
        String rest = uri.substring(schemeEnd + 3);
        int at = rest.lastIndexOf('@');
        String login = at < 0 ? "" : rest.substring(0, at);
        String place = rest.substring(at + 1);
        int slash = place.indexOf('/');
        String path = slash < 0 ? "" : place.substring(slash + 1);
        List<String> addresses = new ArrayList<>();
        for (String address : (slash < 0 ? place : place.substring(0, slash)).split(",", -1)) {
            addresses.add(hostAndPort(address));
        }
        if (mode == Mode.SENTINEL && path.isEmpty()) {
            throw new IllegalArgumentException(
                    "Sentinel URI for " + addresses + " lacks the master's name: redis+sentinel://host:port/name");
        }
        int colon = login.indexOf(':');
        String user = decode(colon < 0 ? login : login.substring(0, colon));
        String password = colon < 0 ? "" : decode(login.substring(colon + 1));
        return new RedisOptions(
                mode,
                tls,
                addresses,
                user.isEmpty() ? null : user,
                password.isEmpty() ? null : password,
                mode == Mode.SENTINEL || path.isEmpty() ? 0 : database(path),
                mode == Mode.SENTINEL ? path : null,
                Keyspace.DEFAULT_NAMESPACE,
                null,
                null,
                Duration.ofSeconds(1),
                4000,
                false);
    }

    public RedisOptions withNamespace(String value) {
        return with(value, trustStore, trustStorePassword, replyTimeout, acceptsRisks);
    }

    /** The same with certificates of one's own (JKS or PKCS12) for TLS. */
    public RedisOptions withTrustStore(Path store, String storePassword) {
        return with(namespace, store, storePassword, replyTimeout, acceptsRisks);
    }

    public RedisOptions withReplyTimeout(Duration value) {
        return with(namespace, trustStore, trustStorePassword, value, acceptsRisks);
    }

    /** The same for a server whose settings would lose jobs: what else refuses to start then only says so, loudly. */
    public RedisOptions withRisksAccepted() {
        return with(namespace, trustStore, trustStorePassword, replyTimeout, true);
    }

    private RedisOptions with(
            String newNamespace,
            @Nullable Path store,
            @Nullable String storePassword,
            Duration timeout,
            boolean risks) {
        return new RedisOptions(
                mode,
                tls,
                addresses,
                user,
                password,
                database,
                master,
                newNamespace,
                store,
                storePassword,
                timeout,
                subscriptions,
                risks);
    }

    /** Where, without user and password. */
    @Override
    public String toString() {
        return (tls ? "rediss" : "redis")
                + (mode == Mode.SINGLE ? "" : "+" + mode.name().toLowerCase(java.util.Locale.ROOT)) + "://"
                + String.join(",", addresses) + (master == null ? "" : "/" + master) + " namespace=" + namespace;
    }

    private static int database(String path) {
        try {
            return Integer.parseUnsignedInt(path);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("Redis URI ends with \"/" + path + "\", a database is a number", e);
        }
    }

    private static String hostAndPort(String address) {
        try {
            URI parsed = new URI("redis://" + address);
            if (parsed.getHost() != null) {
                return parsed.getHost() + ":" + (parsed.getPort() < 0 ? DEFAULT_PORT : parsed.getPort());
            }
        } catch (URISyntaxException malformed) {
            // Said below, without its message: that shows what may be a password in front of a forgotten "@".
        }
        throw new IllegalArgumentException("Redis URI names an address that is not host[:port]"
                + (address.contains(":") ? "" : ": \"" + address + "\"") + "; login data ends with \"@\"");
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(
                    "user or password in the Redis URI holds a \"%\" that is not followed by two hexadecimal digits; "
                            + "write \"%25\" for it");
        }
    }
}
