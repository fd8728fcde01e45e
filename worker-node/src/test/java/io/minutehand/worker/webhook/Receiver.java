package io.minutehand.worker.webhook;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A receiver of webhooks on loopback that answers as it is told and remembers what came. */
public final class Receiver implements AutoCloseable {
    /** What came. */
    public record Got(String method, String target, Headers headers, byte[] body) {
        public String header(String name) {
            return headers.getFirst(name);
        }
    }

    /** What it answers. */
    public record Reply(int status, Map<String, String> headers, byte[] body) {
        public static Reply of(int status) {
            return new Reply(status, Map.of(), new byte[0]);
        }

        public Reply with(String name, String value) {
            return new Reply(status, Map.of(name, value), body);
        }
    }

    /** Says what to answer; may take its time. */
    public interface Behaviour {
        Reply to(Got got) throws Exception;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Got> got = new CopyOnWriteArrayList<>();
    private volatile Behaviour behaviour = request -> Reply.of(204);

    public Receiver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Got request = new Got(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    exchange.getRequestHeaders(),
                    exchange.getRequestBody().readAllBytes());
            got.add(request);
            Reply reply = behaviour.to(request);
            reply.headers().forEach(exchange.getResponseHeaders()::set);
            exchange.sendResponseHeaders(reply.status(), reply.body().length == 0 ? -1 : reply.body().length);
            if (reply.body().length > 0) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(reply.body());
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (IOException gone) {
            // The sender has given up.
            throw gone;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public void answers(Behaviour value) {
        behaviour = value;
    }

    public void answers(Reply reply) {
        behaviour = request -> reply;
    }

    public List<Got> got() {
        return got;
    }

    public HostPort at() {
        return new HostPort("127.0.0.1", server.getAddress().getPort());
    }

    public String url(String target) {
        return "http://" + at() + target;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
