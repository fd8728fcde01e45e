package io.minutehand.core.store;

import java.net.ConnectException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisTimeoutException;

/** Says why a connection did not come about: what was tried, for how long, what happened, and where to look in that case. Stateless. */
final class ConnectFailures {
    private ConnectFailures() {}

    /**
     * Puts a failure into words that hold no secret.
     *
     * @param where the address, without login
     * @param tls whether the connection was to be encrypted
     * @param elapsedNs how long it was tried
     */
    static StoreException refused(String where, boolean tls, long elapsedNs, Throwable failure) {
        String seconds = String.format(Locale.ROOT, "%.1f s", elapsedNs / 1e9);
        return new StoreException(
                StoreException.Kind.REFUSED,
                "cannot connect to " + where + ", tried for " + seconds + ": " + what(failure) + "; "
                        + advice(failure, tls),
                failure);
    }

    /** Whether the server could be reached but did not reply in time or is loading its data, so that another try may do better. */
    static boolean mayPass(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisTimeoutException || cause instanceof RedisLoadingException) {
                return true;
            }
        }
        return false;
    }

    /** What the innermost exception that says something says. */
    private static String what(Throwable failure) {
        String said = "no answer";
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null && !cause.getMessage().isBlank()) {
                said = cause.getMessage();
            }
            if (cause instanceof UnknownHostException) {
                said = "unknown host " + said;
            } else if (cause instanceof RedisTimeoutException) {
                said = "connected, but no reply came in time";
            } else if (cause instanceof TimeoutException) {
                said = "no answer in time";
            }
        }
        String brief = Failures.brief(said).strip();
        return brief.endsWith(".") ? brief.substring(0, brief.length() - 1) : brief;
    }

    private static String advice(Throwable failure, boolean tls) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String advice = adviceFor(cause, String.valueOf(cause.getMessage()), tls);
            if (!advice.isEmpty()) {
                return advice;
            }
        }
        return "check address, user, password and TLS";
    }

    private static String adviceFor(Throwable cause, String message, boolean tls) {
        if (message.startsWith("NOAUTH")) {
            return "the server wants a login: give user and password in the URI";
        }
        if (message.startsWith("WRONGPASS") || message.startsWith("ERR AUTH")) {
            return "check user and password, and that this user is on";
        }
        if (message.startsWith("NOPERM")) {
            return "the login is right, but the user's ACL lacks this command, key or channel; the README names all that it needs";
        }
        if (cause instanceof RedisLoadingException) {
            return "the server is reading its data after a start: try again when it has";
        }
        if (message.contains("cluster support disabled")) {
            return "this is a single server: its URI begins with redis://";
        }
        if (message.contains("unknown command 'SENTINEL'")) {
            return "this is no Sentinel: give the addresses of the Sentinels, or redis:// for a single server";
        }
        if (cause instanceof UnknownHostException) {
            return "check the spelling of the host's name, and DNS";
        }
        if (cause instanceof SSLException) {
            return "check that the server speaks TLS on this port, and that its certificate names this host and is trusted here"
                    + " (RedisOptions.withTrustStore)";
        }
        boolean late = message.contains("timed out") || message.contains("timeout");
        if (late || cause instanceof TimeoutException || cause instanceof RedisTimeoutException) {
            return "check the address, a firewall in between, and that both sides agree on TLS: "
                    + (tls ? "this URI wants it (rediss://)" : "this URI is without (redis://, with TLS rediss://)");
        }
        if (cause instanceof ConnectException && message.contains("refused")) {
            return "nobody listens there: check that Redis is running, on this port, and bound to this address";
        }
        if (message.contains("reset") || message.contains("closed") || message.contains("not active")) {
            return "the server ended the connection: check that both sides agree on TLS, "
                    + (tls ? "this URI wants it (rediss://)" : "this URI is without (redis://, with TLS rediss://)");
        }
        if (cause instanceof SocketException) {
            return "there is no way to this address: check it, and network and firewall";
        }
        return "";
    }
}
