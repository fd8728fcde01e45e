package io.minutehand.core.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.telemetry.Telemetry.Counter;
import io.minutehand.core.telemetry.Telemetry.Gauge;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PrometheusMetricsTest {
    private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
    private static final Pattern META = Pattern.compile("# (HELP|TYPE) (" + NAME + ") ?(.*)");
    private static final Pattern SAMPLE = Pattern.compile("(" + NAME
            + ")(\\{(?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\",?)*})? (NaN|[+-]Inf|[-+0-9.eE]+)");

    /** Every line is one of the text format 0.0.4, the samples of a metric stand behind its type, and none is there twice. */
    private static void requireTextFormat(String text) {
        Set<String> typed = new HashSet<>();
        Set<String> samples = new HashSet<>();
        assertThat(text).endsWith("\n");
        for (String line : text.split("\n", -1)) {
            if (line.isEmpty()) {
                continue;
            }
            Matcher meta = META.matcher(line);
            if (meta.matches()) {
                if (meta.group(1).equals("TYPE")) {
                    assertThat(typed.add(meta.group(2))).as("once: %s", line).isTrue();
                    assertThat(meta.group(3)).isIn("counter", "gauge", "histogram", "summary", "untyped");
                }
                continue;
            }
            Matcher sample = SAMPLE.matcher(line);
            assertThat(sample.matches()).as("a sample: %s", line).isTrue();
            String name = sample.group(1);
            assertThat(typed)
                    .as("typed before: %s", line)
                    .containsAnyOf(name, name.replaceFirst("_(bucket|sum|count)$", ""));
            assertThat(samples.add(name + sample.group(2))).as("once: %s", line).isTrue();
        }
    }

    @Test
    void shouldTellEverythingInTheTextFormat() {
        try (PrometheusMetrics metrics = new PrometheusMetrics()) {
            for (String topic : List.of("orders", "a.b-c_d", "")) {
                for (Counter counter : Counter.values()) {
                    metrics.telemetry().count(counter, topic, 2);
                }
                for (Gauge gauge : Gauge.values()) {
                    metrics.telemetry().gauge(gauge, topic, 3);
                }
                metrics.telemetry().lateness(topic, 1_500);
                metrics.telemetry().lateness(topic, 2_500_000);
                metrics.telemetry().handlerTime(topic, 20_000);
            }
            String text = metrics.scrape();
            requireTextFormat(text);
            assertThat(text)
                    .contains("minutehand_done_total{topic=\"orders\"} 2.0\n")
                    .contains("minutehand_ledger_diff{topic=\"a.b-c_d\"} 3.0\n")
                    .contains("minutehand_lateness_seconds_count{topic=\"orders\"} 2\n")
                    .contains("minutehand_lateness_seconds_bucket{topic=\"orders\",le=\"+Inf\"} 2\n")
                    .contains("jvm_memory_used_bytes")
                    .contains("process_cpu_usage");
        }
    }
}
