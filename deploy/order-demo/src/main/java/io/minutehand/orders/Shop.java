package io.minutehand.orders;

import io.minutehand.orders.OrderService.Payment;
import io.minutehand.orders.Trouble.NotPossibleException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page of the shop and what it asks for, on loopback alone.
 *
 * <table>
 *   <caption>routes</caption>
 *   <tr><td>{@code GET /}</td><td>the page</td></tr>
 *   <tr><td>{@code GET /api/state}</td><td>all that the page shows</td></tr>
 *   <tr><td>{@code POST /api/orders}</td><td>{@code {"item": "TEA"}}: 201 with the order</td></tr>
 *   <tr><td>{@code POST /api/orders/ID/pay}</td><td>200 with what became of it; 409 when it was closed. {@code {"when": "deadline"}}: 202, it
 *       is paid on the millisecond of its time</td></tr>
 *   <tr><td>{@code POST /api/trouble/kill-worker, add-worker, flush, stop-redis}</td><td>200; 409 when that is not possible</td></tr>
 * </table>
 *
 * <p>It changes things for whoever comes from this machine, so it refuses what another site's page could send through a browser: requests for
 * another host, and changes that are not JSON. Thread-safe; must be closed.
 */
final class Shop implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Shop.class);

    private static final String HOST = "127.0.0.1";
    private static final String JSON = "application/json";
    private static final int SHOWN_ORDERS = 40;
    private static final int SHOWN_EVENTS = 8;
    private static final int BODY_BYTES = 4096;
    private static final int THREADS = 6;
    private static final long PATIENCE_S = 30;

    /** How long the button of the page stops Redis. */
    private static final Duration REDIS_STOP = Duration.ofSeconds(5);

    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            + "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final Site site;
    private final Vertx vertx;
    private final Buffer page;
    private final Duration clockAhead;
    private final ScheduledExecutorService payer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "payer");
        thread.setDaemon(true);
        return thread;
    });
    private final HttpServer server;

    private Shop(Site site, int port) throws SQLException {
        this.site = site;
        this.page = page();
        this.clockAhead = site.orders().clockAhead();
        this.vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(THREADS)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        HttpServer made = vertx.createHttpServer(
                        new HttpServerOptions().setHttp2ClearTextEnabled(false).setCompressionSupported(false))
                .requestHandler(table());
        try {
            this.server = await(made.listen(port, HOST));
        } catch (RuntimeException e) {
            payer.shutdownNow();
            await(vertx.close());
            throw e;
        }
    }

    /**
     * Starts to listen.
     *
     * @param port 0 for any free one
     * @throws UncheckedIOException when it cannot listen there
     * @throws SQLException as the database throws it
     */
    static Shop open(Site site, int port) throws SQLException {
        return new Shop(site, port);
    }

    /** Where the page is. */
    String url() {
        return "http://" + HOST + ":" + server.actualPort() + "/";
    }

    private static Buffer page() {
        try (InputStream in = Shop.class.getResourceAsStream("shop.html")) {
            return Buffer.buffer(
                    Objects.requireNonNull(in, "shop.html is in the jar").readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Router table() {
        Router table = Router.router(vertx);
        table.route().handler(Shop::guard);
        table.route().handler(BodyHandler.create(false).setBodyLimit(BODY_BYTES));
        table.get("/")
                .handler(routing -> routing.response()
                        .putHeader("Content-Type", "text/html; charset=utf-8")
                        .putHeader("Content-Security-Policy", POLICY)
                        .end(page));
        table.get("/api/state").handler(routing -> answer(routing, 200, this::state));
        table.post("/api/orders").handler(this::create);
        table.postWithRegex("/api/orders/([0-9]{1,18})/pay").handler(this::pay);
        table.post("/api/trouble/kill-worker").handler(routing -> trouble(routing, site.trouble()::killWorker));
        table.post("/api/trouble/add-worker").handler(routing -> trouble(routing, site.trouble()::addWorker));
        table.post("/api/trouble/flush")
                .handler(routing -> trouble(routing, () -> {
                    site.trouble().flush();
                    return "Redis";
                }));
        table.post("/api/trouble/stop-redis")
                .handler(routing -> trouble(routing, () -> {
                    site.trouble().stopRedis(REDIS_STOP);
                    return "Redis";
                }));
        table.errorHandler(404, routing -> refuse(routing, 404, "There is nothing at this address."));
        table.errorHandler(405, routing -> refuse(routing, 405, "Not with this method."));
        table.errorHandler(413, routing -> refuse(routing, 413, "The body is too long."));
        table.errorHandler(500, routing -> fail(routing, routing.failure()));
        return table;
    }

    /** A name of another host may be one that leads here; a form of another site sends everything but JSON. */
    private static void guard(RoutingContext routing) {
        routing.response().putHeader("Cache-Control", "no-store").putHeader("X-Content-Type-Options", "nosniff");
        int port = routing.request().localAddress().port();
        String host = String.valueOf(routing.request().getHeader("Host"));
        if (!Set.of(HOST + ":" + port, "localhost:" + port).contains(host)) {
            refuse(routing, 421, "Ask for " + HOST + ":" + port + ".");
        } else if (routing.request().method() == HttpMethod.POST
                && !JSON.equals(routing.request().getHeader("Content-Type"))) {
            refuse(routing, 415, "Send " + JSON + ".");
        } else {
            routing.next();
        }
    }

    private void create(RoutingContext routing) {
        JsonObject body = body(routing);
        Item item = body == null ? null : item(body.getValue("item"));
        if (item == null) {
            refuse(routing, 422, "item must be one of those in /api/state.");
            return;
        }
        answer(routing, 201, () -> order(site.service().create(item)));
    }

    private static @Nullable Item item(@Nullable Object name) {
        for (Item item : Item.values()) {
            if (item.name().equals(name)) {
                return item;
            }
        }
        return null;
    }

    private void pay(RoutingContext routing) {
        long id = Long.parseLong(routing.pathParam("param0"));
        JsonObject body = body(routing);
        Object when = body == null ? "?" : body.getValue("when", "now");
        if ("deadline".equals(when)) {
            blocking(routing, () -> payLater(routing, id));
        } else if ("now".equals(when)) {
            blocking(routing, () -> {
                Payment payment = site.service().pay(id);
                end(routing, status(payment), new JsonObject().put("id", id).put("payment", payment.name()));
                return payment;
            });
        } else {
            refuse(routing, 422, "when must be now or deadline.");
        }
    }

    private static int status(Payment payment) {
        return switch (payment) {
            case PAID, ALREADY_PAID -> 200;
            case CLOSED -> 409;
            case NO_SUCH_ORDER -> 404;
        };
    }

    private boolean payLater(RoutingContext routing, long id) throws SQLException {
        Order order = site.orders().find(id);
        if (order == null) {
            refuse(routing, 404, "There is no order " + id + ".");
            return false;
        }
        Duration left = Duration.between(Instant.now(), order.dueAt().minus(clockAhead));
        var unused = payer.schedule(
                () -> {
                    try {
                        Payment payment = site.service().pay(id);
                        site.events()
                                .add("order " + id + " paid at the last moment: "
                                        + (payment == Payment.PAID ? "in time" : "too late, " + payment));
                    } catch (SQLException | RuntimeException e) {
                        log.warn("shop: paying at the last moment failed order={}", id, e);
                    }
                },
                Math.max(0, left.toNanos()),
                TimeUnit.NANOSECONDS);
        end(routing, 202, new JsonObject().put("id", id).put("payment", "PLANNED"));
        return true;
    }

    private void trouble(RoutingContext routing, Callable<String> deed) {
        answer(routing, 200, () -> new JsonObject().put("done", deed.call()));
    }

    private JsonObject state() throws SQLException {
        Balance balance = site.orders().balance(Balance.GRACE);
        JsonArray orders = new JsonArray();
        for (Order order : site.orders().newest(SHOWN_ORDERS)) {
            orders.add(order(order));
        }
        JsonArray items = new JsonArray();
        for (Item item : Item.values()) {
            items.add(new JsonObject()
                    .put("name", item.name())
                    .put("title", item.title())
                    .put("priceCents", item.priceCents()));
        }
        JsonArray workers = new JsonArray();
        for (Workers.Worker worker : site.workers().all()) {
            workers.add(new JsonObject()
                    .put("name", worker.name())
                    .put("pid", worker.pid())
                    .put("state", worker.state().name())
                    .put("closed", worker.status().closed())
                    .put("buckets", worker.status().held())
                    .put(
                            "reconciles",
                            worker.state() == Workers.State.UP
                                    && worker.status().leading()));
        }
        JsonArray events = new JsonArray();
        var all = site.events().all();
        all.subList(Math.max(0, all.size() - SHOWN_EVENTS), all.size())
                .forEach(event -> events.add(
                        new JsonObject().put("at", event.at().toEpochMilli()).put("what", event.what())));
        return new JsonObject()
                .put("now", balance.takenAt().toEpochMilli())
                .put("delayMs", site.settings().delay().toMillis())
                .put("scanMs", site.settings().scan().toMillis())
                .put("database", site.postgres().describe())
                .put("redis", site.redis().describe())
                .put("redisIsOurs", site.trouble().ownsRedis())
                .put("redisStopped", site.trouble().isRedisStopped())
                .put("redisStopMs", REDIS_STOP.toMillis())
                .put("missing", site.missing())
                .put("items", items)
                .put("orders", orders)
                .put("workers", workers)
                .put("events", events)
                .put(
                        "balance",
                        new JsonObject()
                                .put("created", balance.created())
                                .put("paid", balance.paid())
                                .put("closed", balance.closed())
                                .put("open", balance.open())
                                .put("late", balance.late())
                                .put("graceMs", balance.grace().toMillis())
                                .put("bothWays", balance.bothWays())
                                .put("repeated", balance.repeated())
                                .put("contradicted", balance.contradicted())
                                .put("holds", balance.holds()));
    }

    private static JsonObject order(Order order) {
        Instant ended = order.endedAt();
        return new JsonObject()
                .put("id", order.id())
                .put("item", order.item())
                .put("priceCents", order.priceCents())
                .put("status", order.status().name())
                .put("createdAt", order.createdAt().toEpochMilli())
                .put("dueAt", order.dueAt().toEpochMilli())
                .put("endedAt", ended == null ? null : ended.toEpochMilli());
    }

    /** The body as an object; an empty one without a body, null when it is something else. */
    private static @Nullable JsonObject body(RoutingContext routing) {
        String text = routing.body().asString();
        if (text == null || text.isBlank()) {
            return new JsonObject();
        }
        try {
            return new JsonObject(text);
        } catch (RuntimeException e) {
            return null;
        }
    }

    private void answer(RoutingContext routing, int status, Callable<JsonObject> question) {
        blocking(routing, () -> {
            end(routing, status, question.call());
            return true;
        });
    }

    /** Away from the event loop: the database may take its time. */
    private <T> void blocking(RoutingContext routing, Callable<T> work) {
        vertx.executeBlocking(work, false).onFailure(failure -> fail(routing, failure));
    }

    private static void fail(RoutingContext routing, Throwable failure) {
        if (failure instanceof NotPossibleException) {
            refuse(routing, 409, String.valueOf(failure.getMessage()));
        } else {
            log.warn("shop: a request failed path={}", routing.normalizedPath(), failure);
            refuse(routing, 503, "The database or Redis did not answer; try again.");
        }
    }

    private static void refuse(RoutingContext routing, int status, String why) {
        end(routing, status, new JsonObject().put("problem", why));
    }

    private static void end(RoutingContext routing, int status, JsonObject body) {
        routing.response()
                .setStatusCode(status)
                .putHeader("Content-Type", JSON)
                .end(Buffer.buffer(body.encode().getBytes(StandardCharsets.UTF_8)));
    }

    private static <T> T await(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof IOException io) {
                throw new UncheckedIOException(io);
            }
            throw new IllegalStateException("the shop cannot start: " + failed.getCause(), failed.getCause());
        } catch (TimeoutException late) {
            throw new IllegalStateException("the shop did not start or stop within " + PATIENCE_S + " s", late);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the shop started or stopped", e);
        }
    }

    @Override
    public void close() {
        payer.shutdownNow();
        await(vertx.close());
    }
}
