package io.minutehand.worker.webhook;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Set;

/**
 * Where webhooks of a topic go. Checked twice: the URL when it is named, the addresses behind its name before each delivery, since what a name means
 * can change between two looks; the address that was checked is the one that is connected to.
 */
final class Destination {
    private static final int HTTPS_PORT = 443;
    private static final int HTTP_PORT = 80;
    private static final int MOST_CHARS = 2048;

    /** Asks for the addresses of a name. */
    interface Resolver {
        InetAddress[] resolve(String host) throws UnknownHostException;
    }

    private final HostPort at;
    private final boolean tls;
    private final String target;
    private final boolean allowed;

    private Destination(HostPort at, boolean tls, String target, boolean allowed) {
        this.at = at;
        this.tls = tls;
        this.target = target;
        this.allowed = allowed;
    }

    /**
     * Reads a URL.
     *
     * @param exceptions hosts and ports that may be reached although they are not public, not on port 443, or without TLS
     * @throws IllegalArgumentException that says what is wrong; it shows host and port alone, for paths can hold secrets
     */
    static Destination of(String url, Set<HostPort> exceptions) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("the webhook is no URL: " + e.getReason() + " at index " + e.getIndex());
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(java.util.Locale.ROOT);
        boolean tls = scheme.equals("https");
        if (!tls && !scheme.equals("http")) {
            throw new IllegalArgumentException("the webhook's scheme is \"" + scheme + "\", allowed is https");
        }
        if (uri.getHost() == null) {
            throw new IllegalArgumentException("the webhook's URL names no host");
        }
        require(url.length() <= MOST_CHARS, "its URL has " + url.length() + " characters, allowed are " + MOST_CHARS);
        require(uri.getRawUserInfo() == null, "its URL holds a user; signatures tell the receiver who sends");
        require(uri.getRawFragment() == null, "its URL has a fragment, which is never sent");
        String host = uri.getHost();
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        int port = uri.getPort() >= 0 ? uri.getPort() : tls ? HTTPS_PORT : HTTP_PORT;
        HostPort at = new HostPort(bare, port);
        boolean allowed = exceptions.contains(at);
        if (!allowed) {
            require(tls, at + " is named without https; --webhook-allow " + at + " would allow it");
            require(port == HTTPS_PORT, at + " is not on port 443; --webhook-allow " + at + " would allow it");
        }
        String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return new Destination(at, tls, uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery(), allowed);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalArgumentException("a webhook is refused: " + what);
        }
    }

    /**
     * The address to connect to. Blocks while the name is looked up.
     *
     * @throws UnknownHostException when there is none, or nobody can tell
     * @throws DeliveryException when any of them is not public
     */
    InetSocketAddress address(Resolver resolver) throws UnknownHostException {
        InetAddress[] found = resolver.resolve(at.host());
        if (!allowed) {
            for (InetAddress address : found) {
                if (!Addresses.isPublic(address)) {
                    // The address itself would tell whoever chose the URL what the name means inside.
                    throw new DeliveryException("webhook " + at + " is refused: not all of its addresses are public;"
                            + " --webhook-allow " + at + " would allow it");
                }
            }
        }
        return new InetSocketAddress(found[0], at.port());
    }

    HostPort at() {
        return at;
    }

    boolean tls() {
        return tls;
    }

    /** As the receiver is to see it in the header {@code host}: without the scheme's own port. */
    String authority() {
        String text = at.toString();
        return at.port() == (tls ? HTTPS_PORT : HTTP_PORT) ? text.substring(0, text.lastIndexOf(':')) : text;
    }

    /** Path and query. */
    String target() {
        return target;
    }

    @Override
    public String toString() {
        return (tls ? "https://" : "http://") + at;
    }
}
