package io.minutehand.worker.webhook;

import java.util.Locale;

/**
 * A name, or a literal address, with a port.
 *
 * @param host in lower case; an IPv6 address without brackets
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    private static final int LARGEST_PORT = 65_535;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException that says what is wrong
     */
    public HostPort {
        host = host.toLowerCase(Locale.ROOT);
        if (host.isEmpty() || port < 1 || port > LARGEST_PORT) {
            throw new IllegalArgumentException(
                    "host=" + host + " port=" + port + ", wanted is a host and a port of 1 to 65535");
        }
    }

    /**
     * Reads {@code host:port}, or {@code [v6]:port}.
     *
     * @throws IllegalArgumentException when it is not that
     */
    public static HostPort of(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        String bare = bracketed ? host.substring(1, host.length() - 1) : host;
        if (colon < 0 || (!bracketed && host.indexOf(':') >= 0)) {
            throw new IllegalArgumentException(text + " is not HOST:PORT");
        }
        try {
            return new HostPort(bare, Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(text + " is not HOST:PORT: the port is not a number", e);
        }
    }

    /** As {@link #of} reads it. */
    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
