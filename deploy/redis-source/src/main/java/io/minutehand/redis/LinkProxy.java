package io.minutehand.redis;

import io.minutehand.source.FreePorts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A TCP proxy before a Redis server that plays a bad network: delay, black hole one way, reset, refusal, and lost replies.
 * Thread-safe; all modes can be switched while connections are open.
 *
 * <p>What passes, passes whole and in order, as TCP keeps it: a black hole holds bytes back and delivers them when it
 * ends, unless the connection has ended by then. A reply is lost so: the request reaches the server, is executed, and
 * from its reply on nothing more passes to the client on that connection, which is then reset or stays silent. Replies
 * to earlier requests pass. So no client ever takes the reply of one request for that of another.
 *
 * <p>Losing replies needs plain RESP (no TLS). On a connection that has subscribed, replies cannot be counted, and none
 * is lost.
 */
public final class LinkProxy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LinkProxy.class);

    private static final String HOST = "127.0.0.1";
    private static final int BACKLOG = 200;
    private static final int CONNECT_TIMEOUT_MS = 2_000;
    private static final int LISTEN_TRIES = 50;
    private static final long LISTEN_PAUSE_NS = 20_000_000;

    /** A way through the proxy. */
    public enum Direction {
        /** From the client to the server: requests. */
        TO_SERVER,
        /** From the server to the client: replies. */
        TO_CLIENT
    }

    /** What becomes of a connection on which a reply was lost. */
    public enum AfterLoss {
        /** It is reset, once the server has executed the request. */
        RESET,
        /** It stays open, and the client hears nothing on it any more. */
        SILENCE
    }

    private final InetSocketAddress server;
    private final String password;
    private final int port;
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();

    /** Guards what follows, and is notified of each change of it. */
    private final Object lock = new Object();

    private final long[] delayNs = new long[Direction.values().length];
    private final boolean[] held = new boolean[Direction.values().length];
    private final List<Loss> losses = new ArrayList<>();
    private final Map<String, Long> lostByWord = new HashMap<>();
    private AfterLoss afterLoss = AfterLoss.RESET;
    private final Listening listening = new Listening();
    private long accepted;
    private long reset;
    private long lost;
    private boolean closed;

    /** Replies that are to be lost: those of requests with a word, a number of times or at random. Guarded by the lock. */
    static final class Loss {
        private final String word;
        private final Random random;
        private final double probability;
        private long left;

        Loss(String word, long times, double probability, long seed) {
            this.word = word;
            this.left = times;
            this.probability = probability;
            this.random = new Random(seed);
        }

        boolean hits(String request) {
            if (left > 0 && request.contains(word) && (probability >= 1 || random.nextDouble() < probability)) {
                left--;
                return true;
            }
            return false;
        }
    }

    private LinkProxy(InetSocketAddress server, String password) {
        this.server = server;
        this.password = password;
        this.port = FreePorts.next();
        listening.open();
    }

    /** Opens a proxy before a server; everything passes. It goes on over a restart of the server. */
    public static LinkProxy before(RedisServer server) {
        return new LinkProxy(new InetSocketAddress(HOST, server.port()), server.password());
    }

    /** The address of the server through this proxy: {@code redis://:password@127.0.0.1:port}. Not for logs. */
    public String uri() {
        return "redis://:" + password + "@" + HOST + ":" + port;
    }

    /** The port on 127.0.0.1 that clients connect to. */
    public int port() {
        return port;
    }

    /**
     * Heals everything: no delay, no black hole, new connections are taken, no more replies are lost. Connections that
     * fell silent stay silent; see {@link #resetSilent}.
     */
    public void pass() {
        synchronized (lock) {
            for (Direction direction : Direction.values()) {
                delayNs[direction.ordinal()] = 0;
                held[direction.ordinal()] = false;
            }
            losses.clear();
            lock.notifyAll();
        }
        admit();
    }

    /** Delays what passes, each way by its own time, 0 or more. Throughput stays as it is. */
    public void delay(Duration toServer, Duration toClient) {
        synchronized (lock) {
            delayNs[Direction.TO_SERVER.ordinal()] = toServer.toNanos();
            delayNs[Direction.TO_CLIENT.ordinal()] = toClient.toNanos();
        }
    }

    /** Lets nothing pass this way, on all connections, until {@link #pass}; they stay open. The other way goes on. */
    public void blackHole(Direction direction) {
        synchronized (lock) {
            held[direction.ordinal()] = true;
        }
    }

    /** Resets all connections (RST). New ones are taken. */
    public void resetAll() {
        connections.forEach(ProxiedConnection::reset);
    }

    /** Resets the connections that fell silent with a lost reply, as a time-out of the network would. */
    public void resetSilent() {
        connections.stream().filter(ProxiedConnection::isSilent).forEach(ProxiedConnection::reset);
    }

    /** Refuses new connections, as if nobody listened, until {@link #pass} or {@link #admit}; open ones stay. */
    public void refuse() {
        synchronized (listening) {
            listening.close();
        }
    }

    /** Takes new connections again after {@link #refuse}. */
    public void admit() {
        synchronized (listening) {
            listening.open();
        }
    }

    /**
     * Loses the replies to the next requests with a word.
     *
     * @param word what the first 4 KiB of the request contain, such as a script's SHA or a command's name, as it is sent
     * @param times how many
     */
    public void loseReplies(String word, long times) {
        lose(new Loss(word, times, 1, 0));
    }

    /**
     * Loses replies to requests with a word at random, until {@link #pass} or {@link #keepReplies}. Print the seed.
     *
     * @param probability of each, 0 to 1
     * @param seed of the dice; with the same requests in the same order the same are lost
     */
    public void loseRepliesAtRandom(String word, double probability, long seed) {
        lose(new Loss(word, Long.MAX_VALUE, probability, seed));
    }

    /** Loses no more replies. */
    public void keepReplies() {
        synchronized (lock) {
            losses.clear();
        }
    }

    /** What becomes of connections whose reply is lost from now on; {@link AfterLoss#RESET} at first. */
    public void afterLoss(AfterLoss what) {
        synchronized (lock) {
            afterLoss = what;
        }
    }

    /** How many replies were lost so far, each with its request executed. */
    public long lost() {
        synchronized (lock) {
            return lost;
        }
    }

    /** How many replies were lost so far because of this word. */
    public long lost(String word) {
        synchronized (lock) {
            return lostByWord.getOrDefault(word, 0L);
        }
    }

    /** How many connections were taken so far. */
    public long accepted() {
        synchronized (lock) {
            return accepted;
        }
    }

    /** How many connections were reset from here so far, those after a lost reply included. */
    public long resets() {
        synchronized (lock) {
            return reset;
        }
    }

    /** How many connections are open. */
    public int open() {
        return connections.size();
    }

    /** Ends all connections and listens no more. Calling it again does nothing. */
    @Override
    public void close() {
        synchronized (listening) {
            listening.close();
            listening.ended = true;
        }
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
        }
        connections.forEach(ProxiedConnection::reset);
    }

    @Override
    public String toString() {
        return "proxy port=" + port + " before port=" + server.getPort();
    }

    private void lose(Loss loss) {
        synchronized (lock) {
            losses.add(loss);
        }
    }

    /** The listening socket and its thread. Guarded by itself. */
    private final class Listening {
        private @Nullable ServerSocket socket;
        private @Nullable Thread acceptor;
        private boolean ended;

        void open() {
            if (socket != null || ended) {
                return;
            }
            IOException last = null;
            for (int i = 0; i < LISTEN_TRIES; i++) {
                try {
                    ServerSocket fresh = new ServerSocket();
                    // Over a refusal the port is taken again while connections through it are open.
                    fresh.setReuseAddress(true);
                    fresh.bind(new InetSocketAddress(HOST, port), BACKLOG);
                    socket = fresh;
                    acceptor = thread("accept", () -> accept(fresh));
                    return;
                } catch (IOException e) {
                    // A process that is being started just now shares the socket that was closed, for a moment.
                    last = e;
                    LockSupport.parkNanos(LISTEN_PAUSE_NS);
                }
            }
            throw new IllegalStateException("No proxy at port " + port + ": " + last, last);
        }

        void close() {
            ServerSocket open = socket;
            Thread accepting = acceptor;
            if (open == null || accepting == null) {
                return;
            }
            closeQuietly(open);
            try {
                // While the thread waits in accept, the system goes on to take connections.
                accepting.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            socket = null;
            acceptor = null;
        }
    }

    private void accept(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept());
            } catch (IOException e) {
                LOG.debug("proxy: port={} took no connection: {}", port, e.getMessage());
            }
        }
    }

    private void connect(Socket client) {
        Socket onward = new Socket();
        try {
            onward.connect(server, CONNECT_TIMEOUT_MS);
            onward.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
        } catch (IOException e) {
            // The server is down: the client sees its connection end at once.
            ProxiedConnection.reset(client);
            closeQuietly(onward);
            return;
        }
        ProxiedConnection connection = new ProxiedConnection(this, client, onward);
        connections.add(connection);
        synchronized (lock) {
            accepted++;
            if (closed) {
                connection.reset();
            }
        }
        thread("requests", () -> connection.pump(Direction.TO_SERVER));
        thread("replies", () -> connection.pump(Direction.TO_CLIENT));
    }

    private Thread thread(String duty, Runnable task) {
        Thread thread = new Thread(task, "proxy-" + port + "-" + duty);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Why the reply to this request is to be lost, or null. Asked once for each request, before it reaches the server. */
    @Nullable
    Loss lossOf(String request) {
        synchronized (lock) {
            return losses.stream()
                    .filter(loss -> loss.hits(request))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Takes back a loss that did not come to be, since the connection ended before the reply came. */
    void takeBack(Loss loss) {
        synchronized (lock) {
            loss.left++;
        }
    }

    /** Counts a lost reply. Returns what becomes of its connection. */
    AfterLoss count(Loss loss) {
        synchronized (lock) {
            lost++;
            lostByWord.merge(loss.word, 1L, Long::sum);
            return afterLoss;
        }
    }

    void countReset() {
        synchronized (lock) {
            reset++;
        }
    }

    long delayNs(Direction direction) {
        synchronized (lock) {
            return delayNs[direction.ordinal()];
        }
    }

    /** Waits while nothing passes this way, or until the connection has ended. */
    void awaitPassage(Direction direction, ProxiedConnection connection) throws InterruptedException {
        synchronized (lock) {
            while (held[direction.ordinal()] && !closed && connections.contains(connection)) {
                lock.wait();
            }
        }
    }

    void ended(ProxiedConnection connection) {
        connections.remove(connection);
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    static void closeQuietly(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception e) {
            LOG.debug("proxy: closing failed: {}", e.getMessage());
        }
    }
}
