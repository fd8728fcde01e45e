package io.minutehand.core.service;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The port of a service for those who run it: {@code /healthz} (the process answers), {@code /readyz} (it does its work, or why not) and
 * {@code /metrics} (for Prometheus). It asks for no key and has no TLS, so it belongs on loopback or on a network of its own. Answered by two
 * threads of its own: a service that is busy still says so. Thread-safe.
 */
public final class AdminPort implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AdminPort.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final int THREADS = 2;
    private static final int BACKLOG = 50;

    static {
        // The server of the JDK waits for ever, and for everybody, unless it is told otherwise before its first use.
        setUnlessSet("sun.net.httpserver.maxReqTime", "5");
        setUnlessSet("sun.net.httpserver.maxRspTime", "10");
        setUnlessSet("jdk.httpserver.maxConnections", "64");
        setUnlessSet("sun.net.httpserver.nodelay", "true");
    }

    private final HttpServer server;
    private final ExecutorService threads;
    private final Supplier<List<String>> whyNotReady;
    private final Supplier<String> metrics;

    private AdminPort(HttpServer server, Supplier<List<String>> whyNotReady, Supplier<String> metrics) {
        this.server = server;
        this.whyNotReady = whyNotReady;
        this.metrics = metrics;
        AtomicInteger number = new AtomicInteger();
        this.threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "minutehand-admin-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    private static void setUnlessSet(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /**
     * Listens from now on.
     *
     * @param host name or address to listen on
     * @param port 0 = any free one
     * @param whyNotReady what keeps the service from its work, a sentence each; none = it is ready. May block for a while
     * @param metrics in the text format of Prometheus, 0.0.4
     * @throws UncheckedIOException when it cannot listen there
     */
    public static AdminPort open(String host, int port, Supplier<List<String>> whyNotReady, Supplier<String> metrics) {
        HttpServer server;
        try {
            InetSocketAddress address = new InetSocketAddress(host, port);
            if (address.isUnresolved()) {
                throw new IOException("no address is known for this name");
            }
            server = HttpServer.create(address, BACKLOG);
        } catch (IOException failed) {
            throw new UncheckedIOException("admin port " + host + ":" + port + ": " + failed.getMessage(), failed);
        }
        AdminPort admin = new AdminPort(server, whyNotReady, metrics);
        server.setExecutor(admin.threads);
        server.createContext("/", admin::answer);
        server.start();
        log.info("admin: listens host={} port={}", host, admin.port());
        return admin;
    }

    /** The port that it listens on. */
    public int port() {
        return server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) {
        try (exchange) {
            String method = exchange.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                send(exchange, 405, "text/plain; charset=utf-8", "allowed are GET and HEAD\n");
                return;
            }
            switch (exchange.getRequestURI().getPath()) {
                case "/healthz" -> send(exchange, 200, "application/json", "{\"status\":\"UP\"}\n");
                case "/readyz" -> ready(exchange);
                case "/metrics" -> send(exchange, 200, METRICS_TYPE, metrics.get());
                default ->
                    send(exchange, 404, "text/plain; charset=utf-8", "there are /healthz, /readyz and /metrics\n");
            }
        } catch (IOException gone) {
            log.debug("admin: no answer was sent cause=\"{}\"", OneLine.of(gone));
        } catch (RuntimeException failed) {
            log.warn(
                    "admin: no answer to path={}",
                    OneLine.of(exchange.getRequestURI().getPath()),
                    failed);
        }
    }

    private void ready(HttpExchange exchange) throws IOException {
        List<String> reasons = reasons();
        ObjectNode body = JSON.createObjectNode().put("status", reasons.isEmpty() ? "READY" : "NOT_READY");
        ArrayNode why = body.putArray("reasons");
        reasons.forEach(why::add);
        send(exchange, reasons.isEmpty() ? 200 : 503, "application/json", line(body));
    }

    private List<String> reasons() {
        try {
            return whyNotReady.get();
        } catch (RuntimeException failed) {
            // What is closed already may not be able to say so.
            return List.of("it cannot be told: " + OneLine.of(failed));
        }
    }

    private static String line(ObjectNode body) throws JsonProcessingException {
        return JSON.writeValueAsString(body) + "\n";
    }

    private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Cache-Control", "no-store");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(bytes.length));
            exchange.sendResponseHeaders(status, -1);
        } else {
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    /** Listens no more. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
