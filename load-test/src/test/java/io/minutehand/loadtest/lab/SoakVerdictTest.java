package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.loadtest.lab.SoakSeries.Kind;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SoakVerdictTest {
    private static final int SAMPLES = 180;

    private static SoakVerdict verdict(Kind kind, IntToDoubleFunction value) {
        return SoakVerdict.of(new SoakSeries(
                kind,
                "node-1",
                IntStream.range(0, SAMPLES).mapToObj(i -> 10.0 * i).toList(),
                IntStream.range(0, SAMPLES).mapToObj(value::applyAsDouble).toList()));
    }

    @Test
    void shouldCallFlatWhatOnlyTrembles() {
        SoakVerdict verdict = verdict(Kind.HEAP, i -> 20 + (i % 7) * 0.5);

        assertThat(verdict.flat()).isTrue();
        assertThat(verdict.change()).isBetween(-0.05, 0.05);
    }

    @Test
    void shouldNotCountTheFirstThird() {
        assertThat(verdict(Kind.KEYS, i -> Math.min(i, 60) * 1_000.0 + 1).flat())
                .as("tombstones come for a minute, and then go as fast")
                .isTrue();
    }

    /** 20 MiB, and 60 KiB more at each sample: 10 MiB in half an hour. */
    @Test
    void shouldFindALeak() {
        SoakVerdict verdict = verdict(Kind.HEAP, i -> 20 + 0.06 * i);

        assertThat(verdict.flat()).isFalse();
        assertThat(verdict.change()).isBetween(0.10, 0.20);
        assertThat(verdict.failure())
                .isEqualTo(
                        "node-1 heap after collection MiB is not flat: 25.4 in the middle third, 29.0 in the last, +14.2 %");
    }

    @Test
    void shouldFindALeakThatBeginsLate() {
        assertThat(verdict(Kind.RSS, i -> i < 120 ? 100 : 100 + 0.5 * (i - 120)).flat())
                .isFalse();
    }

    @Test
    void shouldNotCallFlatWhatShrinks() {
        assertThat(verdict(Kind.RSS, i -> 100 - 0.2 * i).flat()).isFalse();
    }

    @Test
    void shouldAllowOneThreadMoreAmongFew() {
        assertThat(verdict(Kind.THREADS, i -> i < 120 ? 10 : 11).flat()).isTrue();
        assertThat(verdict(Kind.THREADS, i -> i < 120 ? 10 : 12).flat()).isFalse();
        assertThat(verdict(Kind.HEAP, i -> i < 120 ? 10 : 11).flat()).isFalse();
    }

    @Test
    void shouldNotTakeTooFewSamplesForAProof() {
        SoakVerdict few = SoakVerdict.of(new SoakSeries(Kind.HEAP, "node-1", List.of(0.0, 10.0), List.of(20.0, 20.0)));

        assertThat(few.flat()).isFalse();
        assertThat(few.failure()).contains("was not sampled 9 times");
        assertThat(verdict(Kind.HEAP, i -> 0).flat()).as("nothing was measured").isFalse();
    }

    @Test
    void shouldFailTheScenarioForOneSeries() {
        List<Double> at = IntStream.range(0, 9).mapToObj(i -> (double) i).toList();
        SoakSeries flat =
                new SoakSeries(Kind.KEYS, "redis", at, at.stream().map(i -> 5.0).toList());
        SoakSeries leak = new SoakSeries(
                Kind.HEAP, "node-1", at, at.stream().map(i -> 5 + i).toList());

        assertThat(List.of(flat, leak).stream().map(SoakVerdict::of).map(SoakVerdict::flat))
                .containsExactly(true, false);
        assertThat(SoakSampler.csv(List.of(flat, leak)))
                .hasSize(10)
                .startsWith("seconds,redis keys,node-1 heap after collection MiB", "0.0,5.0,5.0");
    }
}
