package io.minutehand.router.http;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the connections of one event loop in number and time. A client that is waited for has a fixed time: from one answer (or the start) to the
 * whole head of the next request, however it trickles, and for the body of each. While the router works, or streams its answer, no time runs.
 * Belongs to its event loop, but for {@link Numbers}.
 */
final class Connections {
    private static final long SWEEP_MS = 250;

    /** Connections of the whole process, by address of the client. Thread-safe. */
    static final class Numbers {
        private final int most;
        private final int mostOfAddress;
        private final AtomicInteger all = new AtomicInteger();
        private final Map<String, Integer> byAddress = new ConcurrentHashMap<>();

        Numbers(int most, int mostOfAddress) {
            this.most = most;
            this.mostOfAddress = mostOfAddress;
        }

        /** Counts a connection in; answers whether it may stay. */
        private boolean add(String address) {
            int of = byAddress.merge(address, 1, Integer::sum);
            return all.incrementAndGet() <= most && of <= mostOfAddress;
        }

        private void remove(String address) {
            all.decrementAndGet();
            byAddress.computeIfPresent(address, (name, of) -> of == 1 ? null : of - 1);
        }
    }

    /** A connection, and for whom it waits. */
    final class Watch {
        private final HttpConnection connection;
        private @Nullable Call call;
        /** Whether the client is waited for. */
        private boolean waiting = true;

        private boolean closing;

        private long sinceNs = System.nanoTime();

        private Watch(HttpConnection connection) {
            this.connection = connection;
        }

        /** A request's head has come. */
        void begins(Call next, boolean withBody) {
            call = next;
            waiting = withBody;
            sinceNs = System.nanoTime();
        }

        /** A part of a stream has come. */
        void arriving() {
            sinceNs = System.nanoTime();
        }

        /** The connection ends with the answer that is being sent: what comes on it from here on is not looked at. */
        void closing() {
            closing = true;
        }

        boolean isClosing() {
            return closing;
        }

        /** All of the request has come. */
        void arrived() {
            waiting = false;
        }

        /** The stream is not read for now, which is not the client's fault. */
        void paused(boolean now) {
            if (waiting == now) {
                waiting = !now;
                sinceNs = System.nanoTime();
            }
        }

        /** The request has its answer. */
        void ended() {
            call = null;
            waiting = true;
            sinceNs = System.nanoTime();
        }

        private void end(long nowNs) {
            if (closing) {
                cut();
            } else {
                closing = true;
                sinceNs = nowNs;
                connection.close();
            }
        }

        /** Closes the connection though there are answers that its client has not read; an ordinary close waits for that, perhaps for ever. */
        void cut() {
            closing = true;
            if (connection instanceof ConnectionBase base) {
                base.fail(new IOException("the client did not read its answers"));
            } else {
                connection.close();
            }
        }

        private void check(long nowNs) {
            Call late = call;
            if (!waiting || nowNs - sinceNs < (late == null ? idleNs : bodyNs)) {
                return;
            }
            if (late == null) {
                end(nowNs);
            } else {
                late.lastOfConnection();
                late.problem(new Problem(
                        ProblemType.REQUEST_TIMEOUT,
                        "nothing more of the body came within "
                                + Duration.ofNanos(bodyNs).toMillis() + " ms"));
            }
        }
    }

    private final Numbers numbers;
    private final long idleNs;
    private final long bodyNs;
    private final Map<HttpConnection, Watch> watches = new IdentityHashMap<>();

    Connections(Vertx vertx, Numbers numbers, HttpSettings settings) {
        this.numbers = numbers;
        this.idleNs = settings.idle().toNanos();
        this.bodyNs = settings.body().toNanos();
        vertx.setPeriodic(SWEEP_MS, sweep -> sweep());
    }

    /** A client has connected. */
    void opened(HttpConnection connection) {
        String address = connection.remoteAddress().hostAddress();
        String key = address == null ? "" : address;
        boolean welcome = numbers.add(key);
        if (welcome) {
            KnownVersions.requireOn(connection);
            watches.put(connection, new Watch(connection));
        }
        connection.closeHandler(closed -> {
            numbers.remove(key);
            watches.remove(connection);
        });
        if (!welcome) {
            connection.close();
        }
    }

    /** The watch over a connection. */
    Watch of(HttpConnection connection) {
        return watches.computeIfAbsent(connection, Watch::new);
    }

    private void sweep() {
        long nowNs = System.nanoTime();
        List<Watch> all = new ArrayList<>(watches.values());
        all.forEach(watch -> watch.check(nowNs));
    }

    /** How often overdue clients are looked for. */
    static Duration sweepEvery() {
        return Duration.ofNanos(TimeUnit.MILLISECONDS.toNanos(SWEEP_MS));
    }
}
