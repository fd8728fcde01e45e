package io.minutehand.router.http;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.telemetry.TraceContext;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.router.JobRouter;
import io.minutehand.router.http.Connections.Watch;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP router: one server on several event loops, over a {@link JobRouter} of its own. HTTP/1.1 only. Thread-safe; must be closed.
 */
final class HttpRouter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(HttpRouter.class);

    private static final int URI_BYTES = 2048;
    private static final int HEADER_BYTES = 8 * 1024;
    private static final long KEYS_EVERY_MS = 1000;
    private static final int CHUNK_BYTES = 64 * 1024;
    private static final Duration START_WITHIN = Duration.ofSeconds(30);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(15);

    private final HttpSettings settings;
    private final Vertx vertx;
    private final Health health;
    private final List<Route> routes;
    private final @Nullable ApiKeys keys;
    private final Gate gate;
    private final Connections.Numbers numbers;
    private final Traces traces;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong requestNumber = new AtomicLong();
    private final String requestPrefix = UUID.randomUUID().toString().substring(0, 8) + "-";
    private final List<HttpServer> servers = new CopyOnWriteArrayList<>();
    private volatile int port;

    private HttpRouter(
            HttpSettings settings, StoreConnection connection, JobRouter router, Traces traces, Duration patience) {
        this.settings = settings;
        this.traces = traces;
        this.keys = settings.keys() == null ? null : ApiKeys.of(settings.keys());
        this.gate = new Gate(keys);
        this.numbers = new Connections.Numbers(settings.connections(), settings.connectionsPerAddress());
        this.vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(settings.eventLoops())
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        Topics topics = new Topics(connection, patience);
        this.health = new Health(topics);
        this.routes = Routes.of(new Routes.Parts(
                router,
                topics,
                new Admin(connection, patience),
                new Blocking(vertx),
                new Bodies(settings.bodyBytes()),
                health,
                settings));
    }

    /**
     * Starts to listen; blocks until it does.
     *
     * @param connection stays the caller's, as does {@code router}, which must be set not to block when its buffer is full
     * @param traces where spans of requests go
     * @param patience for what is asked of Redis besides jobs
     * @throws IllegalArgumentException when the settings cannot be used
     * @throws UncheckedIOException when it cannot listen there
     */
    static HttpRouter start(
            HttpSettings settings, StoreConnection connection, JobRouter router, Traces traces, Duration patience) {
        HttpRouter http = new HttpRouter(settings, connection, router, traces, patience);
        try {
            await(http.vertx.deployVerticle(
                    () -> http.new Loop(), new DeploymentOptions().setInstances(settings.eventLoops())));
        } catch (UncheckedIOException failed) {
            http.stop();
            throw new UncheckedIOException(
                    settings.host() + ":" + settings.port() + ": " + failed.getMessage(), failed.getCause());
        } catch (RuntimeException failed) {
            http.stop();
            throw failed;
        }
        http.watchKeys();
        log.info(
                "router: listens host={} port={} tls={} settings={}",
                settings.host(),
                http.port,
                settings.certificate() != null,
                settings);
        return http;
    }

    private void watchKeys() {
        ApiKeys file = keys;
        if (file != null) {
            vertx.setPeriodic(
                    KEYS_EVERY_MS,
                    now -> vertx.executeBlocking(() -> {
                                health.keys(file.refresh());
                                return null;
                            })
                            .onFailure(failed -> log.error("router: looking at the key file failed", failed)));
        }
    }

    /** The port that it listens on. */
    int port() {
        return port;
    }

    List<Route> routes() {
        return routes;
    }

    /** What keeps the router from storing jobs, a sentence each; nothing when it stores them. Asks Redis. */
    CompletableFuture<List<String>> whyNotReady() {
        return health.whyNotReady();
    }

    /** From now on {@code /readyz} says that it stops, so that nobody sends more. */
    void announceStop() {
        health.stopping();
    }

    /** Takes no more connections, lets requests under way finish, which they do by their deadlines, and ends. */
    @Override
    public void close() {
        announceStop();
        await(Future.join(servers.stream()
                .map(server -> server.shutdown(STOP_WITHIN.toMillis(), TimeUnit.MILLISECONDS))
                .toList()));
        stop();
        log.info("router: stopped port={}", port);
    }

    private void stop() {
        await(vertx.close());
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(START_WITHIN.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof IOException io) {
                throw new UncheckedIOException(io);
            }
            throw new IllegalArgumentException("the HTTP server cannot start: " + failed.getCause(), failed.getCause());
        } catch (TimeoutException late) {
            throw new IllegalStateException("the HTTP server did not start or stop within " + START_WITHIN, late);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the HTTP server started or stopped", e);
        }
    }

    /** The server of one event loop. */
    private final class Loop extends AbstractVerticle {
        @Override
        public void start(Promise<Void> started) {
            Connections connections = new Connections(vertx, numbers, settings);
            HttpServer server = vertx.createHttpServer(options());
            server.connectionHandler(connections::opened);
            server.invalidRequestHandler(request -> Refusals.malformed(request, nextRequestId(request)));
            server.requestHandler(table(connections, context));
            servers.add(server);
            server.listen(settings.port(), settings.host()).onComplete(listening -> {
                if (listening.succeeded()) {
                    port = listening.result().actualPort();
                    started.complete();
                } else {
                    started.fail(listening.cause());
                }
            });
        }
    }

    private HttpServerOptions options() {
        HttpServerOptions options = new HttpServerOptions()
                .setMaxInitialLineLength(URI_BYTES)
                .setMaxHeaderSize(HEADER_BYTES)
                .setMaxChunkSize(CHUNK_BYTES)
                .setHttp2ClearTextEnabled(false)
                .setUseAlpn(false)
                .setDecompressionSupported(false)
                .setHandle100ContinueAutomatically(false)
                .setTcpNoDelay(true)
                .setAcceptBacklog(1024);
        if (settings.certificate() != null && settings.privateKey() != null) {
            options.setSsl(true)
                    .setKeyCertOptions(new PemKeyCertOptions()
                            .setCertPath(settings.certificate().toString())
                            .setKeyPath(settings.privateKey().toString()));
        }
        return options;
    }

    private Router table(Connections connections, Context context) {
        Router table = Router.router(vertx);
        for (Route route : routes) {
            table.routeWithRegex(route.method(), route.regex())
                    .handler(routing -> dispatch(route, routing, connections, context));
        }
        table.errorHandler(
                404,
                routing -> refuse(
                        routing, connections, context, new Problem(ProblemType.NOT_FOUND, "no route has this path")));
        table.errorHandler(405, routing -> refuse(routing, connections, context, notAllowed(routing)));
        table.errorHandler(
                400,
                routing -> refuse(
                        routing,
                        connections,
                        context,
                        new Problem(ProblemType.MALFORMED_REQUEST, "the URI is malformed")));
        table.errorHandler(500, routing -> refuse(routing, connections, context, routing.failure()));
        return table;
    }

    private Problem notAllowed(RoutingContext routing) {
        String path = routing.normalizedPath();
        String allowed = String.join(
                ", ",
                routes.stream()
                        .filter(route -> path.matches(route.regex()))
                        .map(route -> route.method().name())
                        .sorted()
                        .toList());
        return new Problem(ProblemType.METHOD_NOT_ALLOWED, "allowed are " + allowed).header("Allow", allowed);
    }

    private void refuse(RoutingContext routing, Connections connections, Context context, Throwable why) {
        new Call(
                        routing,
                        context,
                        nextRequestId(routing.request()),
                        connections.of(routing.request().connection()))
                .fail(why);
    }

    private void dispatch(Route route, RoutingContext routing, Connections connections, Context context) {
        HttpServerRequest request = routing.request();
        Watch watch = connections.of(request.connection());
        if (watch.isClosing()) {
            return;
        }
        Call call = new Call(routing, context, nextRequestId(request), watch);
        try {
            requireGoodForm(call);
            call.atEnd(requests::decrementAndGet);
            if (requests.incrementAndGet() > settings.requests()) {
                throw Problem.passing(
                        ProblemType.TOO_MANY_REQUESTS, settings.requests() + " requests are under way", Call.SOON_S);
            }
            call.key(gate.admit(route, call), gate::again);
            // What is refused before has no span: anybody can send it, as often as he likes.
            trace(route, call);
            route.handler().handle(call);
        } catch (RuntimeException failed) {
            call.fail(failed);
        }
    }

    private void trace(Route route, Call call) {
        boolean nothing = traces == Traces.NONE && call.request().getHeader(TraceContext.PARENT) == null;
        if (nothing || route.access() == Route.Access.OPEN) {
            return;
        }
        String method = route.method().name();
        call.traced(traces.begin(
                Traces.Kind.SERVER,
                method + " " + route.template(),
                TraceContext.of(call.request()::getHeader),
                Map.of("http.request.method", method, "http.route", route.template()),
                null));
    }

    private static void requireGoodForm(Call call) {
        try {
            Refusals.requireGoodForm(call.request());
        } catch (Problem malformed) {
            // Where its body ends is not sure.
            call.lastOfConnection();
            throw malformed;
        }
    }

    /** The caller's, if it is harmless in a log line; else one of this router's. */
    private String nextRequestId(HttpServerRequest request) {
        String given = request.getHeader(Call.REQUEST_ID);
        return given != null && given.matches("[A-Za-z0-9._-]{1,64}")
                ? given
                : requestPrefix + Long.toHexString(requestNumber.incrementAndGet());
    }
}
