package io.minutehand.source;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Hands out loopback ports that nothing listens on, each only once in this JVM.
 *
 * <p>The ports lie below the range from which the system takes the local ports of outgoing connections. From inside
 * that range a server that is killed may not get its port back: a client that keeps reconnecting is in time given the
 * very port that it dials as its local one, and then it is connected to itself.
 */
public final class FreePorts {

    private static final int LOWEST = 20_000;
    private static final int DEFAULT_OUTGOING_LOWEST = 32_768;
    private static final int TRIES = 1_000;
    private static final Path OUTGOING_RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");

    private static final Set<Integer> HANDED_OUT = ConcurrentHashMap.newKeySet();
    // Unseeded on purpose: two JVMs that start together must not try the same ports in the same order.
    private static final Random RANDOM = new Random();
    private static final int LIMIT = limit();

    private FreePorts() {}

    /**
     * A port on 127.0.0.1 that was free a moment ago. Another process may still take it first.
     *
     * @throws IllegalStateException if none is found
     */
    public static int next() {
        for (int i = 0; i < TRIES; i++) {
            int port = LOWEST + RANDOM.nextInt(LIMIT - LOWEST);
            if (HANDED_OUT.add(port) && isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port from " + LOWEST + " to " + LIMIT + " after " + TRIES + " tries");
    }

    private static boolean isFree(int port) {
        // Bound, but never listening: a process that another thread starts right now shares this socket for a moment,
        // and
        // a listening one would then keep the port from the server that it is meant for.
        try (Socket socket = new Socket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static int limit() {
        try {
            int lowest =
                    Integer.parseInt(Files.readString(OUTGOING_RANGE).trim().split("\\s+", -1)[0]);
            return lowest >= LOWEST + TRIES ? lowest : DEFAULT_OUTGOING_LOWEST;
        } catch (IOException | NumberFormatException e) {
            // Not Linux, or /proc is hidden: the common default.
            return DEFAULT_OUTGOING_LOWEST;
        }
    }
}
