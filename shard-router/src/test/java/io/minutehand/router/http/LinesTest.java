package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinesTest {
    private static final int MOST = 10;

    /** Cuts a text that comes in pieces of this size. */
    private static List<String> cut(String text, int... sizes) {
        Lines lines = new Lines(MOST);
        List<String> cut = new ArrayList<>();
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        int at = 0;
        for (int i = 0; at < bytes.length; i++) {
            int size = Math.min(bytes.length - at, sizes[i % sizes.length]);
            lines.add(Arrays.copyOfRange(bytes, at, at + size));
            at += size;
            drain(lines, cut, false);
        }
        drain(lines, cut, true);
        assertThat(lines.isEmpty()).isTrue();
        return cut;
    }

    private static void drain(Lines lines, List<String> cut, boolean last) {
        while (true) {
            try {
                byte[] line = lines.next(last);
                if (line == null) {
                    return;
                }
                cut.add(new String(line, StandardCharsets.US_ASCII));
            } catch (Problem tooLong) {
                cut.add("too long");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    a;b;c;              | a b c
                    a;b                 | a b
                    ;;a; ;b             | a b
                    0123456789;b        | 0123456789 b
                    0123456789x;b;c     | long b c
                    0123456789xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;b;0123456789xxxxxxxxxxxxxxxxxxxxxxxxxx | long b long
                    """)
    void shouldCutLinesInWhateverPiecesTheyCome(String text, String expected) {
        List<String> wanted = Arrays.stream(expected.split(" "))
                .map(s -> s.equals("long") ? "too long" : s)
                .toList();
        for (int size = 1; size < 50; size++) {
            assertThat(cut(text.replace(';', '\n'), size))
                    .as("pieces of %d", size)
                    .isEqualTo(wanted);
        }
    }

    @Test
    void shouldCutRandomTextInRandomPieces() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2000; i++) {
            StringBuilder text = new StringBuilder();
            for (int c = random.nextInt(60); c >= 0; c--) {
                text.append(random.nextInt(8) == 0 ? '\n' : 'x');
            }
            List<String> wanted = Arrays.stream(text.toString().split("\n"))
                    .filter(line -> !line.isEmpty())
                    .map(line -> line.length() > MOST ? "too long" : line)
                    .toList();
            assertThat(cut(text.toString(), 1 + random.nextInt(5), 1 + random.nextInt(30)))
                    .as("seed %d text %s", seed, text)
                    .isEqualTo(wanted);
        }
    }

    @Test
    void shouldGiveALineAgain() {
        Lines lines = new Lines(MOST);
        lines.add("a\nb\n".getBytes(StandardCharsets.US_ASCII));
        byte[] a = lines.next(false);
        lines.again(a);
        assertThat(lines.isEmpty()).isFalse();
        assertThat(lines.next(false)).isSameAs(a);
        assertThat(lines.next(false)).containsExactly('b');
        assertThat(lines.isEmpty()).isTrue();
    }
}
