package io.minutehand.redis;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A parsed {@code redis://[user][:password]@host[:port]} or {@code rediss://} address.
 *
 * @param host     name or IP address
 * @param port     TCP port, 1 to 65535
 * @param user     ACL user, or null for the default user
 * @param password password in clear, or null for none
 * @param tls      true for {@code rediss}
 */
record RedisAddress(
        String host,
        int port,
        @Nullable String user,
        @Nullable String password,
        boolean tls) {

    private static final int DEFAULT_PORT = 6379;

    /**
     * Parses an address.
     *
     * @throws IllegalArgumentException if it is malformed; the message does not repeat the credentials
     */
    static RedisAddress parse(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            // The exception quotes its input, password included: keep only the reason.
            throw malformed(text, e.getReason());
        }
        boolean tls = "rediss".equals(uri.getScheme());
        if (!tls && !"redis".equals(uri.getScheme())) {
            throw malformed(text, "the scheme must be redis or rediss");
        }
        if (uri.getHost() == null) {
            throw malformed(text, "the host is missing");
        }
        String user = null;
        String password = null;
        String info = uri.getRawUserInfo();
        if (info != null) {
            int colon = info.indexOf(':');
            if (colon < 0) {
                throw malformed(text, "credentials have the form [user]:password");
            }
            user = colon == 0 ? null : decode(info.substring(0, colon));
            password = decode(info.substring(colon + 1));
        }
        return new RedisAddress(uri.getHost(), uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(), user, password, tls);
    }

    private static IllegalArgumentException malformed(String text, String reason) {
        String shown = text.contains("@") ? "***@" + text.substring(text.lastIndexOf('@') + 1) : text;
        return new IllegalArgumentException(
                "Redis address " + shown + ": " + reason + "; expected redis://[[user]:password@]host[:port]");
    }

    private static String decode(String part) {
        // The decoder is made for forms, where a plus is a space; in a URI it stands for itself.
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Host and port, without the credentials. */
    @Override
    public String toString() {
        return (tls ? "rediss://" : "redis://") + host + ":" + port;
    }
}
