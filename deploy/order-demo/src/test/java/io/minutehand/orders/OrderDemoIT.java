package io.minutehand.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.minutehand.postgres.PostgresInstance;
import io.minutehand.postgres.SharedPostgres;
import io.minutehand.redis.RedisServer;
import io.minutehand.source.PrivateDirectory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.By;
import org.openqa.selenium.chrome.ChromeDriver;

/** A shop with two workers on a real PostgreSQL: its page in a browser, its API, and then a run in which a worker is killed. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OrderDemoIT {
    private static final Duration DELAY = Duration.ofSeconds(3);
    private static final Duration SCAN = Duration.ofSeconds(2);
    /** The first order, which is paid at its last moment, while the browser does something else. */
    private static final int LAST_MOMENT = 1;

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static PrivateDirectory home;
    private static RedisServer redis;
    private static Site site;
    private static Shop shop;

    @BeforeAll
    static void open() throws Exception {
        PostgresInstance postgres = SharedPostgres.get();
        System.out.println("order demo: PostgreSQL is " + postgres.describe());
        home = PrivateDirectory.create("orders-test");
        redis = RedisServer.start();
        site = Site.open(postgres, redis, home, DELAY, SCAN, 2, what -> {});
        shop = Shop.open(site, 0);
    }

    @AfterAll
    static void close() {
        if (shop != null) {
            shop.close();
        }
        if (site != null) {
            site.close();
        }
        redis.close();
        home.close();
    }

    @Test
    @Order(1)
    void shouldAnswerCallersAndRefuseOtherSites() throws Exception {
        assertThat(site.orders().balance(Balance.GRACE).created()).isZero();
        HttpResponse<String> created = post("api/orders", "{\"item\": \"KETTLE\"}", "application/json");
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.body()).contains("\"id\":" + LAST_MOMENT + ",");
        long id = LAST_MOMENT;
        HttpResponse<String> planned =
                post("api/orders/" + id + "/pay", "{\"when\": \"deadline\"}", "application/json");
        assertThat(planned.statusCode()).isEqualTo(202);

        assertThat(post("api/orders", "{\"item\": \"CAR\"}", "application/json").statusCode())
                .isEqualTo(422);
        assertThat(post("api/orders", "no JSON", "application/json").statusCode())
                .isEqualTo(422);
        assertThat(post("api/orders", "item=TEA", "application/x-www-form-urlencoded")
                        .statusCode())
                .isEqualTo(415);
        assertThat(post("api/orders/4711/pay", "{}", "application/json").statusCode())
                .isEqualTo(404);
        assertThat(post("api/orders/" + id + "/pay", "{\"when\": 5}", "application/json")
                        .statusCode())
                .isEqualTo(422);
        assertThat(post("api/nothing", "{}", "application/json").statusCode()).isEqualTo(404);
        assertThat(post("api/orders", "{\"item\":\"" + "x".repeat(5000) + "\"}", "application/json")
                        .statusCode())
                .isEqualTo(413);
        assertThat(get("api/state").body()).contains("\"balance\"").doesNotContain("password", redis.password());
        assertThat(get("api/state").headers().firstValue("X-Content-Type-Options"))
                .contains("nosniff");
    }

    @Test
    @Order(2)
    void shouldTakeAnOrderItsPaymentAndItsCloseInABrowser() throws Exception {
        ChromeDriver browser = Browser.require(390, 844);
        try {
            browser.get(shop.url());
            await("the shop shows what it sells")
                    .atMost(LIMIT)
                    .until(() -> !browser.findElements(By.cssSelector("[data-item=TEA]"))
                            .isEmpty());
            browser.findElement(By.cssSelector("[data-item=TEA]")).click();
            awaitStatus(browser, 2, "WAIT_PAY");
            browser.findElement(By.cssSelector("[data-item=MUG]")).click();
            awaitStatus(browser, 3, "WAIT_PAY");
            browser.findElement(By.cssSelector("[data-pay='2']")).click();
            awaitStatus(browser, 2, "PAID");

            String first = text(browser, 3);
            assertThat(first).contains("waits for payment").containsPattern("closes in \\d\\.\\d s");
            await("it counts down").atMost(LIMIT).until(() -> !text(browser, 3).equals(first));
            awaitStatus(browser, 3, "CLOSED");

            assertThat(text(browser, 3)).contains("closed").containsPattern("\\d+ ms after its time");
            assertThat(text(browser, 2)).contains("paid").containsPattern("s before its time");
            assertThat(browser.findElement(By.id("balance")).getText())
                    .startsWith("holds")
                    .containsPattern("3 created = (1 paid \\+ 2|2 paid \\+ 1) closed \\+ 0 open");
            assertThat(browser.findElements(By.cssSelector("#workers [data-state=UP]")))
                    .hasSize(2);
            assertThat(unnamedButtons(browser)).isEmpty();
            assertThat((Long) browser.executeScript(
                            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"))
                    .as("nothing stands out at the width of a telephone")
                    .isZero();
        } finally {
            browser.quit();
        }
        assertThat(site.orders().find(2).status()).isEqualTo(io.minutehand.orders.Order.Status.PAID);
        assertThat(site.orders().find(3).status()).isEqualTo(io.minutehand.orders.Order.Status.CLOSED);
    }

    private static void awaitStatus(ChromeDriver browser, int order, String status) {
        await("order " + order + " is " + status)
                .atMost(LIMIT)
                .until(() -> !browser.findElements(
                                By.cssSelector("li[data-order='" + order + "'][data-status=" + status + "]"))
                        .isEmpty());
    }

    private static String text(ChromeDriver browser, int order) {
        return browser.findElement(By.cssSelector("li[data-order='" + order + "']"))
                .getText();
    }

    private static List<String> unnamedButtons(ChromeDriver browser) {
        return browser.findElements(By.tagName("button")).stream()
                .filter(button ->
                        button.isDisplayed() && button.getAccessibleName().isBlank())
                .map(button -> button.getDomProperty("outerHTML"))
                .toList();
    }

    /** Last: it leaves one worker. */
    @Test
    @Order(3)
    void shouldBalanceWhenAWorkerIsKilled() throws Exception {
        HttpResponse<String> again = post("api/orders/" + LAST_MOMENT + "/pay", "", "application/json");
        assertThat(again.statusCode() + again.body())
                .isIn(
                        "200{\"id\":" + LAST_MOMENT + ",\"payment\":\"ALREADY_PAID\"}",
                        "409{\"id\":" + LAST_MOMENT + ",\"payment\":\"CLOSED\"}");
        long before = site.orders().balance(Balance.GRACE).created();
        long seed = System.nanoTime();
        OrderRun.Result result = new OrderRun(
                        site, new OrderRun.Plan(300, 200, 0.5, seed, true, false, null), System.out::println)
                .run();
        Balance balance = result.balance();
        System.out.println("order demo: seed=" + seed + "\n" + String.join("\n", balance.lines()));

        assertThat(balance.settled()).as("seed=%d %s", seed, balance).isTrue();
        assertThat(balance.created()).isEqualTo(before + 300);
        assertThat(result.notCreated() + result.paymentsFailed()).isZero();
        assertThat(result.direct() + result.relayed()).isEqualTo(balance.created());
        assertThat(site.workers().all())
                .extracting(Workers.Worker::state)
                .containsExactlyInAnyOrder(Workers.State.KILLED, Workers.State.UP);
    }

    private static HttpResponse<String> post(String path, String body, String type) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(shop.url() + path))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(shop.url() + path)).build());
    }

    private static HttpResponse<String> send(HttpRequest request) throws Exception {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()
                .send(request, HttpResponse.BodyHandlers.ofString());
    }
}
