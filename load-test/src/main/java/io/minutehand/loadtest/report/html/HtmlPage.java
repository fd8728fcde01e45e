package io.minutehand.loadtest.report.html;

import static io.minutehand.loadtest.report.html.PageText.escaped;

import io.minutehand.loadtest.report.html.HtmlReport.Fact;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Renders a report as one HTML file.
 *
 * <p>The file holds all it needs, and its Content-Security-Policy lets nothing else in: no address is loaded, and of scripts and styles only those
 * that this class has put there run, known by their hashes. So no text of a report can become code, even if an escape were missing. Tables
 * are plain HTML; the charts are drawn from JSON by a script, with uPlot (see {@code uplot/VENDORED.md}).
 */
public final class HtmlPage {
    private static final Pattern PLACE = Pattern.compile("\\{\\{([a-z-]+)}}");
    private static final Pattern ENDS_ELEMENT = Pattern.compile("</(script|style)|<!--", Pattern.CASE_INSENSITIVE);

    private HtmlPage() {}

    /**
     * Writes the page of a report, in UTF-8; an older file of that name is replaced.
     *
     * @throws IOException when it cannot be written
     */
    public static void write(HtmlReport report, Path file) throws IOException {
        Files.writeString(file, html(report));
    }

    /** The page of a report; the same report always gives the same page. */
    public static String html(HtmlReport report) {
        String chartStyle = inline("uplot/uPlot.min.css");
        String style = inline("page.css");
        String chartScript = inline("uplot/uPlot.iife.min.js");
        String script = inline("page.js");
        String policy = "default-src 'none'; script-src " + Assets.sourceHash(chartScript) + " "
                + Assets.sourceHash(script) + "; style-src " + Assets.sourceHash(chartStyle) + " "
                + Assets.sourceHash(style) + "; base-uri 'none'; form-action 'none'";
        return filled(
                Assets.text("page.html"),
                Map.of(
                        "policy",
                        policy,
                        "title",
                        escaped(report.title()),
                        "figures",
                        figures(report),
                        "facts",
                        facts(report),
                        "data",
                        PageText.chartData(report),
                        "licence",
                        escaped(Assets.text("uplot/LICENSE")),
                        "chart-style",
                        chartStyle,
                        "style",
                        style,
                        "chart-script",
                        chartScript,
                        "script",
                        script));
    }

    /** A file that stands inside a script or style element: nothing in it may end that element. */
    private static String inline(String name) {
        String text = Assets.text(name);
        if (ENDS_ELEMENT.matcher(text).find() || text.indexOf('\r') >= 0) {
            throw new IllegalStateException(
                    "file " + name + " of the report cannot stand inside of an element of a page");
        }
        return text;
    }

    /** All places are filled in one pass: a value that looks like a place stays a value. */
    private static String filled(String template, Map<String, String> values) {
        return PLACE.matcher(template).replaceAll(place -> {
            String value = values.get(place.group(1));
            if (value == null) {
                throw new IllegalStateException("page.html names " + place.group() + ", which nobody fills");
            }
            return Matcher.quoteReplacement(value);
        });
    }

    private static String figures(HtmlReport report) {
        boolean compared =
                report.figures().stream().anyMatch(row -> !row.ratio().isBlank());
        StringBuilder rows = new StringBuilder("<thead><tr><td></td>");
        for (Measured system : report.systems()) {
            rows.append("<th scope=\"col\">").append(escaped(system.name())).append("</th>");
        }
        rows.append(compared ? "<th scope=\"col\">ratio</th>" : "").append("</tr></thead>\n<tbody>\n");
        for (Figure row : report.figures()) {
            rows.append("<tr><th scope=\"row\">").append(escaped(row.label())).append("</th>");
            for (String value : row.values()) {
                rows.append("<td>").append(escaped(value)).append("</td>");
            }
            rows.append(compared ? "<td>" + escaped(row.ratio()) + "</td>" : "").append("</tr>\n");
        }
        return rows.append("</tbody>").toString();
    }

    private static String facts(HtmlReport report) {
        StringBuilder rows = new StringBuilder("<tbody>\n");
        for (Fact fact : report.facts()) {
            rows.append("<tr><th scope=\"row\">").append(escaped(fact.name())).append("</th><td>");
            rows.append(escaped(fact.value())).append("</td></tr>\n");
        }
        return rows.append("</tbody>").toString();
    }
}
