package io.minutehand.loadtest.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.minutehand.loadtest.report.html.HtmlReport.Fact;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import io.minutehand.loadtest.report.html.HtmlReport.Percentile;
import io.minutehand.loadtest.report.html.HtmlReport.Second;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class HtmlPageTest {
    private static final String HOSTILE = "</script><script>alert(1)</script><!--\u2028&'\"{{data}}$1\\";

    private static Measured system(String name) {
        return new Measured(
                name,
                List.of(new Percentile(50, 0.4), new Percentile(99, 4.123456)),
                List.of(new Second(0, 1, 2, 3, 2000, 1990), new Second(2, Double.NaN, Double.NaN, Double.NaN, 2000, 0)),
                List.of(10L, 0L));
    }

    private static String hostilePage() {
        return HtmlPage.html(new HtmlReport(
                HOSTILE,
                List.of(new Fact(HOSTILE, HOSTILE)),
                List.of(new Figure(HOSTILE, List.of(HOSTILE), HOSTILE)),
                List.of(system(HOSTILE))));
    }

    private static String body(String page, String open, String close) {
        int start = page.indexOf(open) + open.length();
        assertThat(start).as(open).isGreaterThanOrEqualTo(open.length());
        return page.substring(start, page.indexOf(close, start));
    }

    @Test
    void shouldShowTextsAsTheyStand() {
        String shown = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--\u2028&amp;&#39;&quot;{{data}}$1\\";

        String page = hostilePage();

        assertThat(body(page, "<h1>", "</h1>")).isEqualTo(shown);
        assertThat(body(page, "<title>", "</title>")).isEqualTo(shown);
        assertThat(page.split(Pattern.quote(shown), -1))
                .as("title twice, fact twice, row three times, system")
                .hasSize(9);
        assertThat(page).doesNotContain("<script>alert");
    }

    @Test
    void shouldReplaceWhatHtmlCannotHold() {
        assertThat(PageText.escaped("a\u0000\u001b[31m\u0085\u007f\tb\n\u00e4\ud83d\ude00"))
                .isEqualTo("a\ufffd\ufffd[31m\ufffd\ufffd\tb\n\u00e4\ud83d\ude00");
    }

    @Test
    void shouldEmbedDataThatNothingInItCanEnd() throws Exception {
        String data = body(hostilePage(), "<script type=\"application/json\" id=\"data\">", "</script>");

        assertThat(data).doesNotContainPattern("[<>&\u2028\u2029]");
        JsonNode system = new ObjectMapper().readTree(data).get("systems").get(0);
        assertThat(system.get("name").asText()).isEqualTo(HOSTILE);
        assertThat(system.get("percentiles")).hasToString("{\"percentile\":[50.0,99.0],\"ms\":[0.4,4.123]}");
        assertThat(system.get("seconds"))
                .hasToString("{\"second\":[0,2],\"p50\":[1.0,null],\"p99\":[2.0,null],\"max\":[3.0,null],"
                        + "\"scheduled\":[2000,2000],\"started\":[1990,0]}");
        assertThat(system.get("buckets")).hasToString("[10,0]");
    }

    @Test
    void shouldAllowTheScriptsAndStylesOfThePageAndNothingElse() {
        String page = hostilePage();
        String policy = body(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");

        assertThat(policy).startsWith("default-src 'none'; script-src 'sha256-").doesNotContain("unsafe", "http", "*");
        Matcher inline =
                Pattern.compile("<(script|style)>(.*?)</\\1>", Pattern.DOTALL).matcher(page);
        int count = 0;
        while (inline.find()) {
            assertThat(policy).contains(inline.group(1) + "-src '").contains(Assets.sourceHash(inline.group(2)));
            count++;
        }
        assertThat(count).isEqualTo(4);
        assertThat(page).doesNotContainPattern("(?i)\\s(src|href|style|on[a-z]+)=[\"']|@import|url\\(");
    }

    @Test
    void shouldShowTheTablesWithoutScripts() {
        Figure compared = new Figure("lateness p99, ms", List.of("4.02", "211"), "1/52");
        Figure alone = new Figure("lost jobs", List.of("0", ""), "");
        List<Measured> systems = List.of(system("minutehand"), system("single-zset"));

        String page = HtmlPage.html(
                new HtmlReport("t", List.of(new Fact("Redis", "7.0.15")), List.of(compared, alone), systems));
        String without = HtmlPage.html(new HtmlReport("t", List.of(), List.of(alone), systems));

        assertThat(page)
                .contains(
                        "<th scope=\"col\">minutehand</th><th scope=\"col\">single-zset</th><th scope=\"col\">ratio</th>")
                .contains("<tr><th scope=\"row\">lateness p99, ms</th><td>4.02</td><td>211</td><td>1/52</td></tr>")
                .contains("<tr><th scope=\"row\">lost jobs</th><td>0</td><td></td><td></td></tr>")
                .contains("<tr><th scope=\"row\">Redis</th><td>7.0.15</td></tr>");
        assertThat(without).doesNotContain(">ratio<").contains("<td>0</td><td></td></tr>");
    }

    @Test
    void shouldCarryTheLicenceOfTheChartsAndTheirFilesUnchanged() {
        String note = Assets.text("uplot/VENDORED.md");
        Matcher file = Pattern.compile("\\| ([0-9a-f]{64}) \\| (\\S+) \\|").matcher(note);
        int count = 0;
        while (file.find()) {
            byte[] bytes = Assets.bytes("uplot/" + file.group(2));
            assertThat(HexFormat.of().formatHex(Assets.sha256(bytes)))
                    .as("SHA-256 of %s", file.group(2))
                    .isEqualTo(file.group(1));
            count++;
        }

        assertThat(count).isEqualTo(3);
        String version = body(note, "| version | ", " |");
        assertThat(Assets.text("uplot/uPlot.iife.min.js")).startsWith("/*!").contains("(v" + version + ") */");
        assertThat(hostilePage())
                .contains("The MIT License (MIT)", "Copyright (c) 2022 Leon Sorokin")
                .contains("The above copyright notice and this permission notice shall be included");
    }
}
