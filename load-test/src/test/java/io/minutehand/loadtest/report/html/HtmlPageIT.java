package io.minutehand.loadtest.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Fact;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import io.minutehand.loadtest.report.html.HtmlReport.Percentile;
import io.minutehand.loadtest.report.html.HtmlReport.Second;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a browser makes of a page, opened from disk. */
class HtmlPageIT {
    private static final String DARK = "--blink-settings=preferredColorScheme=0";
    private static final String LIGHT = "--blink-settings=preferredColorScheme=1";

    /** The address on which a page tells what it has drawn. */
    private static final String DRAWN = "#drawn";

    private static final String HOSTILE = "<img src=x onerror=alert(1)></script>&{{data}}";
    private static final int CURVE_POINTS = 80;
    private static final int SECONDS = 45;
    private static final int BUCKETS = 12;
    private static final int SAMPLES = 20;

    /** Pixels of a line's colour that a line cannot do without: it is wider than this. */
    private static final int LINE_PIXELS = 150;

    private static Chromium chromium;

    @BeforeAll
    static void find() throws IOException {
        chromium = Chromium.require();
    }

    private static Measured measured(String name, double scale, int buckets) {
        Random random = new Random(1);
        List<Percentile> percentiles = new ArrayList<>();
        for (int i = 0; i < CURVE_POINTS; i++) {
            double spread = 0.302 + 4.69 * i / (CURVE_POINTS - 1);
            percentiles.add(new Percentile(100 * (1 - Math.pow(10, -spread)), scale * Math.exp(spread)));
        }
        List<Second> seconds = new ArrayList<>();
        for (int i = 0; i < SECONDS; i++) {
            double ms = scale * (1 + random.nextDouble());
            seconds.add(new Second(i, ms, 5 * ms, 20 * ms, 2000, 1800 + random.nextInt(100)));
        }
        List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < buckets; i++) {
            sizes.add(500L + random.nextInt(1000));
        }
        return new Measured(name, percentiles, seconds, sizes);
    }

    private static String page(Measured... systems) {
        return HtmlPage.html(new HtmlReport(
                "Steady",
                List.of(new Fact("machine", "2 cores")),
                List.of(new Figure(
                        "lateness p99, ms", Stream.of(systems).map(s -> "4.0").toList(), "1/50")),
                List.of(systems),
                List.of(
                        chart("Memory", "redis", SAMPLES, "rss"),
                        chart("Memory", HOSTILE, SAMPLES, "heap", "rss"),
                        chart("Keys", "keys", 1, "keys"))));
    }

    private static Chart chart(String section, String title, int samples, String... lines) {
        List<Double> at = new ArrayList<>();
        List<Double> values = new ArrayList<>();
        for (int i = 0; i < samples; i++) {
            at.add(10.0 * i);
            values.add(100 + 10.0 * (i % 3));
        }
        return new Chart(
                section,
                title,
                "time, s",
                "MiB",
                at,
                Stream.of(lines).map(name -> new Line(name, values)).toList());
    }

    private static String page() {
        return page(measured("minutehand", 0.4, BUCKETS), measured(HOSTILE, 30, 0));
    }

    /** What a page tells of its charts. */
    private static JsonNode drawn(String dom) throws IOException {
        Matcher told = Pattern.compile("<pre id=\"drawn\" hidden=\"\">(.*?)</pre>", Pattern.DOTALL)
                .matcher(dom);
        assertThat(told.find())
                .as("the page came to its end; it says: %s", problem(dom))
                .isTrue();
        String json = told.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        return new ObjectMapper().readTree(json);
    }

    private static String problem(String dom) {
        Matcher problem =
                Pattern.compile("<p id=\"problem\".*?</p>", Pattern.DOTALL).matcher(dom);
        return problem.find() ? problem.group() : "there is no such page";
    }

    private static void assertNoProblem(String dom) {
        assertThat(problem(dom)).contains("hidden=\"\"").endsWith("></p>");
    }

    private static void assertAllDrawn(JsonNode drawn) {
        List<String> lines = new ArrayList<>();
        for (JsonNode line : drawn.get("lines")) {
            String name = line.get("kind").asText() + " / " + line.get("system").asText("all") + " / "
                    + line.get("series").asText();
            lines.add(name + ": " + line.get("points").asInt());
            assertThat(line.get("pixels").asInt())
                    .as("pixels of %s", name)
                    .isGreaterThan(name.startsWith("lines / keys") ? 0 : LINE_PIXELS);
        }
        assertThat(lines)
                .containsExactly(
                        "percentiles / all / minutehand: " + CURVE_POINTS,
                        "percentiles / all / " + HOSTILE + ": " + CURVE_POINTS,
                        "lateness / minutehand / max: " + SECONDS,
                        "lateness / minutehand / p99: " + SECONDS,
                        "lateness / minutehand / p50: " + SECONDS,
                        "rates / minutehand / scheduled: " + SECONDS,
                        "rates / minutehand / started: " + SECONDS,
                        "lateness / " + HOSTILE + " / max: " + SECONDS,
                        "lateness / " + HOSTILE + " / p99: " + SECONDS,
                        "lateness / " + HOSTILE + " / p50: " + SECONDS,
                        "rates / " + HOSTILE + " / scheduled: " + SECONDS,
                        "rates / " + HOSTILE + " / started: " + SECONDS,
                        "buckets / minutehand / jobs: " + BUCKETS,
                        "lines / redis / rss: " + SAMPLES,
                        "lines / " + HOSTILE + " / heap: " + SAMPLES,
                        "lines / " + HOSTILE + " / rss: " + SAMPLES,
                        "lines / keys / keys: 1");
    }

    @Test
    void shouldDrawEachPointOfEachLine() throws Exception {
        String dom = chromium.dom(page(), DRAWN, LIGHT, "--window-size=1300,900");

        assertNoProblem(dom);
        assertAllDrawn(drawn(dom));
        assertThat(dom.replaceAll("=\"[^\"]*\"", ""))
                .as("a name is no markup; in values of attributes it may stand as it is")
                .doesNotContain("<img");
    }

    @Test
    void shouldDrawInTheDarkAndOnASmallScreen() throws Exception {
        String dom = chromium.dom(page(), DRAWN, DARK, "--window-size=500,900");

        assertNoProblem(dom);
        JsonNode drawn = drawn(dom);
        assertAllDrawn(drawn);
        assertThat(drawn.get("window").asInt()).isEqualTo(500);
        assertThat(drawn.get("width").asInt()).as("no scrolling to the side").isLessThanOrEqualTo(500);
    }

    @Test
    void shouldFollowTheColoursOfTheReadersScreen() throws Exception {
        assertThat(corner(DARK)).isEqualTo(0x16181c);
        assertThat(corner(LIGHT)).isEqualTo(0xffffff);
    }

    private static int corner(String scheme) throws IOException, InterruptedException {
        return ImageIO.read(chromium.picture(page(), scheme, "--window-size=600,400")
                                .toFile())
                        .getRGB(2, 2)
                & 0xffffff;
    }

    @Test
    void shouldDrawWhatThereIsOfAPoorRun() throws Exception {
        Second empty = new Second(3, Double.NaN, Double.NaN, Double.NaN, 0, 0);
        Measured poor = new Measured("poor", List.of(new Percentile(100, 5)), List.of(empty), List.of(7L));
        Measured early =
                new Measured("early", List.of(new Percentile(50, -0.2), new Percentile(99, 0)), List.of(), List.of());

        String dom = chromium.dom(page(poor, early, new Measured("none", List.of(), List.of(), List.of())), DRAWN);

        assertNoProblem(dom);
        assertThat(drawn(dom).get("lines").findValuesAsText("kind"))
                .containsExactly(
                        "percentiles",
                        "percentiles",
                        "lateness",
                        "lateness",
                        "lateness",
                        "rates",
                        "rates",
                        "buckets",
                        "lines",
                        "lines",
                        "lines",
                        "lines");
        assertThat(drawn(dom).get("lines").get(1).get("points").asInt()).isEqualTo(2);
    }

    @Test
    void shouldNoticeACanvasThatStaysEmpty() throws Exception {
        String dom = chromium.dom(
                changed(
                        page(),
                        "for (const f of ['stroke', 'fill']) CanvasRenderingContext2D.prototype[f] = () => {};"),
                DRAWN);

        for (JsonNode line : drawn(dom).get("lines")) {
            assertThat(line.get("points").asInt()).isPositive();
            assertThat(line.get("pixels").asInt()).as("%s", line).isZero();
        }
    }

    @Test
    void shouldTellWhatWentWrong() throws Exception {
        String dom =
                chromium.dom(changed(page(), "Object.defineProperty(window, 'uPlot', {get: () => undefined});"), "");

        assertThat(problem(dom))
                .contains("The charts are not as they should be")
                .doesNotContain("hidden");
        assertThat(dom).contains("<td>4.0</td>");
    }

    @Test
    void shouldBeOperableByTheKeyboard() throws Exception {
        String presses = """
                window.addEventListener('load', () => setTimeout(() => {
                  const press = (on, key) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
                  document.querySelector('.u-legend button').click();
                  const over = document.querySelector('.u-over');
                  press(over, 'End');
                  press(over, 'ArrowLeft');
                  setTimeout(() => {
                    const values = [...document.querySelectorAll('.u-legend')[0].querySelectorAll('.u-value')];
                    document.title = JSON.stringify({
                      pressed: [...document.querySelectorAll('.u-legend button')].map(b => b.getAttribute('aria-pressed')),
                      reachable: [document.querySelector('.u-legend button').tabIndex, over.tabIndex],
                      values: values.map(v => v.textContent),
                    });
                  }, 100);
                }, 100));
                """;
        String dom = chromium.dom(
                changed(page(measured("a", 1, 0), measured("b", 10, 0)), presses), "", "--window-size=900,900");

        Matcher title = Pattern.compile("<title>(\\{.*?)</title>").matcher(dom);
        assertThat(title.find()).as(problem(dom)).isTrue();
        JsonNode state = new ObjectMapper().readTree(title.group(1));
        assertThat(state.get("pressed").get(0).asText())
                .as("the line that was switched off")
                .isEqualTo("false");
        assertThat(state.get("pressed").get(1).asText()).isEqualTo("true");
        assertThat(state.get("reachable")).hasToString("[0,0]");
        // The last point but one: e^4.93, ten times.
        assertThat(state.get("values").get(0).asText()).isEqualTo("99.99883 %");
        assertThat(state.get("values").get(2).asText()).isEqualTo("1390 ms");
    }

    @Test
    void shouldLetNothingInOverTheNetwork() throws Exception {
        try (ServerSocket elsewhere = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            AtomicInteger visits = new AtomicInteger();
            Thread counter = new Thread(() -> count(elsewhere, visits), "elsewhere");
            counter.setDaemon(true);
            counter.start();
            String picture = "<img src=\"http://127.0.0.1:" + elsewhere.getLocalPort() + "/x.png\"></body>";
            String injected = page().replace("</body>", picture);

            String refused = chromium.dom(injected, "");
            assertThat(visits).hasValue(0);
            assertThat(problem(refused)).contains("img-src forbids http://127.0.0.1");

            chromium.dom(withoutPolicy(injected), "");
            await("what the policy kept out").until(() -> visits.get() > 0);
        }
    }

    private static void count(ServerSocket server, AtomicInteger visits) {
        while (!server.isClosed()) {
            try {
                server.accept().close();
                visits.incrementAndGet();
            } catch (IOException closed) {
                return;
            }
        }
    }

    /** The page with a script before its own ones, which its policy would not let run. */
    private static String changed(String page, String script) {
        return withoutPolicy(page)
                .replaceFirst("<body>", Matcher.quoteReplacement("<body><script>" + script + "</script>"));
    }

    private static String withoutPolicy(String page) {
        String without = page.replaceFirst("<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "");
        assertThat(without).isNotEqualTo(page);
        return without;
    }
}
