package io.minutehand.redis;

import io.minutehand.redis.LinkProxy.AfterLoss;
import io.minutehand.redis.LinkProxy.Direction;
import io.minutehand.redis.LinkProxy.Loss;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection through a {@link LinkProxy}: two pumps, each on a thread of its own. Requests and replies are counted,
 * so that the reply to a request is known when it comes.
 */
final class ProxiedConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ProxiedConnection.class);

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int HEAD_CHARS = 4096;
    private static final int COMMAND_CHARS = 64;
    private static final long NONE = Long.MAX_VALUE;

    private final LinkProxy proxy;
    private final Socket client;
    private final Socket server;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final RespFrames requests = new RespFrames(HEAD_CHARS);
    private final RespFrames replies = new RespFrames(0);

    /** Only the pump of requests uses these. */
    private long requested;

    private boolean subscribed;

    /** Only the pump of replies uses it. */
    private long replied;

    /** Number of the request whose reply is lost, and why. Set before that request reaches the server. */
    private volatile long lostReply = NONE;

    private final AtomicReference<@Nullable Loss> loss = new AtomicReference<>();

    private volatile boolean silent;

    /** Bytes on their way, and when they arrive. */
    private record Chunk(byte[] bytes, long arrivesNs) {}

    ProxiedConnection(LinkProxy proxy, Socket client, Socket server) {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
    }

    /** Whether a reply was lost on it and it was left open. */
    boolean isSilent() {
        return silent;
    }

    /** Ends it with RST on the client's side. Calling it again does nothing. */
    void reset() {
        if (ended.compareAndSet(false, true)) {
            proxy.countReset();
            reset(client);
            LinkProxy.closeQuietly(server);
            proxy.ended(this);
        }
    }

    /** Called by both pumps at their end: whichever sees the loss that did not come to be. */
    private void takeBackLoss() {
        Loss open = loss.getAndSet(null);
        if (open != null) {
            proxy.takeBack(open);
        }
    }

    /** Closes a socket so that its peer gets RST. */
    static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (SocketException e) {
            LOG.debug("proxy: no reset, the connection has ended: {}", e.getMessage());
        }
        LinkProxy.closeQuietly(socket);
    }

    private void close() {
        if (ended.compareAndSet(false, true)) {
            LinkProxy.closeQuietly(client);
            LinkProxy.closeQuietly(server);
            proxy.ended(this);
        }
    }

    /** Carries bytes one way until the connection ends. */
    void pump(Direction direction) {
        Socket from = direction == Direction.TO_SERVER ? client : server;
        Socket to = direction == Direction.TO_SERVER ? server : client;
        Deque<Chunk> way = new ArrayDeque<>();
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            int read = 0;
            while (read >= 0) {
                read = read(from, in, buffer, way);
                if (read > 0) {
                    int pass = direction == Direction.TO_SERVER ? request(buffer, read) : reply(buffer, read);
                    long delayNs = proxy.delayNs(direction);
                    if (way.isEmpty() && delayNs == 0) {
                        proxy.awaitPassage(direction, this);
                        out.write(buffer, 0, pass);
                    } else if (pass > 0) {
                        way.add(new Chunk(Arrays.copyOf(buffer, pass), System.nanoTime() + delayNs));
                    }
                }
                deliver(way, out, direction, read < 0);
                if (direction == Direction.TO_CLIENT && isLossDone(way)) {
                    return;
                }
            }
        } catch (IOException e) {
            LOG.trace("proxy: a connection ended: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            close();
            takeBackLoss();
        }
    }

    /** Reads what comes, but no longer than until the next bytes on the way arrive. Returns 0 then, and -1 at the end. */
    private static int read(Socket from, InputStream in, byte[] buffer, Deque<Chunk> way) throws IOException {
        Chunk next = way.peek();
        long waitNs = next == null ? 0 : next.arrivesNs - System.nanoTime();
        if (next != null && waitNs <= 0) {
            return 0;
        }
        from.setSoTimeout(next == null ? 0 : (int) (waitNs / 1_000_000) + 1);
        try {
            return in.read(buffer);
        } catch (SocketTimeoutException e) {
            return 0;
        }
    }

    private void deliver(Deque<Chunk> way, OutputStream out, Direction direction, boolean all)
            throws IOException, InterruptedException {
        for (Chunk next = way.peek(); next != null; next = way.peek()) {
            long waitNs = next.arrivesNs - System.nanoTime();
            if (waitNs > 0) {
                if (!all) {
                    return;
                }
                Thread.sleep(waitNs / 1_000_000, (int) (waitNs % 1_000_000));
            }
            proxy.awaitPassage(direction, this);
            out.write(next.bytes);
            way.remove();
        }
    }

    /** Counts the requests that end here and decides for each whether its reply is lost. All bytes pass. */
    private int request(byte[] bytes, int length) {
        if (subscribed) {
            return length;
        }
        for (int at = requests.end(bytes, 0, length); at >= 0; at = requests.end(bytes, at, length)) {
            long number = requested++;
            String request = requests.head();
            if (isSubscription(request)) {
                subscribed = true;
                return length;
            }
            if (lostReply == NONE) {
                Loss hit = proxy.lossOf(request);
                loss.set(hit);
                lostReply = hit == null ? NONE : number;
            }
        }
        return length;
    }

    private static boolean isSubscription(String request) {
        int end = Math.min(COMMAND_CHARS, request.length());
        // Of "*2\r\n$9\r\nSUBSCRIBE\r\n..." the command is the third line.
        String[] lines = request.substring(0, end).split("\r\n", 4);
        return lines.length > 2 && lines[2].regionMatches(true, Math.max(0, lines[2].length() - 9), "SUBSCRIBE", 0, 9);
    }

    /** Counts the replies that begin and end here. Returns how many bytes pass: those before a reply that is lost. */
    private int reply(byte[] bytes, int length) {
        int at = 0;
        while (at >= 0 && at < length) {
            if (replies.isBetween() && replied == lostReply) {
                lose();
            }
            if (replied >= lostReply) {
                return at;
            }
            at = replies.end(bytes, at, length);
            if (at >= 0 && replies.type() != '>') {
                replied++;
            }
        }
        return length;
    }

    private void lose() {
        // Its first byte proves that the request was executed.
        replied++;
        Loss lost = loss.getAndSet(null);
        if (lost != null && proxy.count(lost) == AfterLoss.SILENCE) {
            silent = true;
        }
    }

    /** Resets the connection when its reply is lost and what came before has been delivered. */
    private boolean isLossDone(Deque<Chunk> way) {
        if (replied > lostReply && !silent && way.isEmpty()) {
            reset();
            return true;
        }
        return false;
    }
}
