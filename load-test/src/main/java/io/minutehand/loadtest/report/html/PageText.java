package io.minutehand.loadtest.report.html;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Line;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import io.minutehand.loadtest.report.html.HtmlReport.Percentile;
import io.minutehand.loadtest.report.html.HtmlReport.Second;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Texts and numbers in the forms in which a page may hold them. */
final class PageText {
    /** Digits of a millisecond that are kept: lateness is measured in microseconds. */
    private static final double US_PER_MS = 1000;

    private static final ObjectMapper JSON = new ObjectMapper();

    static {
        JSON.getFactory().setCharacterEscapes(new MarkupEscapes());
    }

    private PageText() {}

    /** A text as the content of an element or the value of a quoted attribute. */
    static String escaped(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.append(printable(c) ? c : '\ufffd');
            }
        }
        return out.toString();
    }

    /** Control characters have no place in HTML, not even as references. */
    private static boolean printable(char c) {
        return (c >= ' ' && (c < '\u007f' || c > '\u009f')) || c == '\n' || c == '\t';
    }

    /** What the charts need, as JSON for a script element: no character of it can end that element. */
    static String chartData(HtmlReport report) {
        ObjectNode data = JSON.createObjectNode();
        ArrayNode systems = data.putArray("systems");
        for (Measured system : report.systems()) {
            ObjectNode node = systems.addObject().put("name", system.name());
            ObjectNode percentiles = node.putObject("percentiles");
            ArrayNode at = percentiles.putArray("percentile");
            ArrayNode late = percentiles.putArray("ms");
            for (Percentile point : system.percentiles()) {
                at.add(point.percentile());
                late.add(rounded(point.ms()));
            }
            ObjectNode seconds = node.putObject("seconds");
            counts(system, Second::second, seconds.putArray("second"));
            lateness(system, Second::p50Ms, seconds.putArray("p50"));
            lateness(system, Second::p99Ms, seconds.putArray("p99"));
            lateness(system, Second::maxMs, seconds.putArray("max"));
            counts(system, Second::scheduled, seconds.putArray("scheduled"));
            counts(system, Second::started, seconds.putArray("started"));
            ArrayNode buckets = node.putArray("buckets");
            system.bucketSizes().forEach(buckets::add);
        }
        ArrayNode charts = data.putArray("charts");
        for (Chart chart : report.charts()) {
            ObjectNode node = charts.addObject()
                    .put("section", chart.section())
                    .put("title", chart.title())
                    .put("across", chart.across())
                    .put("unit", chart.unit());
            ArrayNode at = node.putArray("at");
            chart.at().forEach(at::add);
            ArrayNode lines = node.putArray("lines");
            for (Line line : chart.lines()) {
                ArrayNode values = lines.addObject().put("name", line.name()).putArray("values");
                line.values().forEach(value -> add(values, value));
            }
        }
        try {
            return JSON.writeValueAsString(data);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the data of report \"" + report.title() + "\"", e);
        }
    }

    private static void counts(Measured system, ToLongFunction<Second> count, ArrayNode column) {
        system.seconds().forEach(second -> column.add(count.applyAsLong(second)));
    }

    private static void lateness(Measured system, ToDoubleFunction<Second> ms, ArrayNode column) {
        for (Second second : system.seconds()) {
            add(column, ms.applyAsDouble(second));
        }
    }

    private static void add(ArrayNode column, double value) {
        if (Double.isNaN(value)) {
            column.addNull();
        } else {
            column.add(rounded(value));
        }
    }

    private static double rounded(double ms) {
        return Math.rint(ms * US_PER_MS) / US_PER_MS;
    }

    /** Spells the characters that mean something in HTML, or end a line in JavaScript alone, by their numbers. */
    private static final class MarkupEscapes extends CharacterEscapes {
        private static final long serialVersionUID = 1;
        private static final SerializedString LINE_SEPARATOR = new SerializedString("\\u2028");
        private static final SerializedString PARAGRAPH_SEPARATOR = new SerializedString("\\u2029");

        @Override
        public int[] getEscapeCodesForAscii() {
            int[] codes = standardAsciiEscapesForJSON();
            for (char c : new char[] {'<', '>', '&'}) {
                codes[c] = ESCAPE_STANDARD;
            }
            return codes;
        }

        @Override
        public @Nullable SerializableString getEscapeSequence(int character) {
            return switch (character) {
                case '\u2028' -> LINE_SEPARATOR;
                case '\u2029' -> PARAGRAPH_SEPARATOR;
                default -> null;
            };
        }
    }
}
