package io.minutehand.deployment;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Names of metrics: those that an expression of PromQL reads, those that a scrape shows, and those that are known. */
final class MetricNames {
    private static final Pattern QUOTED = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'");
    private static final Pattern BRACES = Pattern.compile("\\{[^}]*}|\\[[^\\]]*]");
    private static final Pattern LABELS =
            Pattern.compile("\\b(?:by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)");
    private static final Pattern WORD = Pattern.compile("(?<![\\w.:$])[a-zA-Z_:][\\w:]*\\b(?!\\s*\\()");
    private static final Set<String> KEYWORDS =
            Set.of("and", "or", "unless", "offset", "bool", "inf", "nan", "by", "on");
    private static final Pattern SAMPLE = Pattern.compile("^([a-zA-Z_:][\\w:]*)[{ ]");

    /** What Prometheus itself knows of each target. */
    static final Set<String> OF_PROMETHEUS = Set.of("up");

    private static final Set<String> KNOWN = read();

    private MetricNames() {}

    /** Those that an expression reads. */
    static Set<String> in(String expression) {
        String bare = BRACES.matcher(QUOTED.matcher(expression).replaceAll("")).replaceAll("");
        bare = LABELS.matcher(bare).replaceAll(" ");
        Set<String> names = new TreeSet<>();
        Matcher words = WORD.matcher(bare);
        while (words.find()) {
            if (!KEYWORDS.contains(words.group())) {
                names.add(words.group());
            }
        }
        return names;
    }

    /** Those of a scrape in the text format. */
    static Set<String> ofScrape(String scrape) {
        return scrape.lines()
                .filter(line -> !line.startsWith("#"))
                .map(SAMPLE::matcher)
                .filter(Matcher::find)
                .map(sample -> sample.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Those of {@code metrics.txt}: what the services showed when they were last asked, which an integration test does. */
    static Set<String> known() {
        return KNOWN;
    }

    private static Set<String> read() {
        try (InputStream in = MetricNames.class.getResourceAsStream("/metrics.txt")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** That an expression reads no metric that nobody has. */
    static void require(Findings findings, String where, String expression) {
        Set<String> read = in(expression);
        findings.require(!read.isEmpty(), where, "reads no metric: %s", expression);
        for (String name : read) {
            findings.require(
                    KNOWN.contains(name) || OF_PROMETHEUS.contains(name),
                    where,
                    "no service shows a metric %s (those known are in metrics.txt)",
                    name);
        }
    }
}
