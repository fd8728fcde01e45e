package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RespFramesTest {

    private static final List<String> VALUES = List.of(
            "+OK\r\n",
            "-ERR no $5 such *3 thing, and a text that is longer than any number\r\n",
            ":12\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "$7\r\n+a\r\n*9\n\r\n",
            "*0\r\n",
            "*-1\r\n",
            "*2\r\n*2\r\n:1\r\n$2\r\nab\r\n*0\r\n",
            "%1\r\n+key\r\n*1\r\n:2\r\n",
            "|1\r\n+ttl\r\n:3\r\n*1\r\n:4\r\n",
            ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
            "_\r\n",
            "#t\r\n",
            "=6\r\ntxt:ab\r\n",
            "*3\r\n$7\r\nEVALSHA\r\n$4\r\nbeef\r\n$1\r\n0\r\n");

    @Test
    void shouldFindEveryEndHoweverTheStreamIsCut() {
        byte[] stream = String.join("", VALUES).getBytes(StandardCharsets.ISO_8859_1);
        List<Integer> ends = new ArrayList<>();
        int end = 0;
        for (String value : VALUES) {
            end += value.length();
            ends.add(end);
        }
        for (int piece = 1; piece <= stream.length; piece++) {
            assertThat(endsIn(stream, piece)).as("pieces of %d bytes", piece).isEqualTo(ends);
        }
    }

    private static List<Integer> endsIn(byte[] stream, int piece) {
        RespFrames frames = new RespFrames(0);
        List<Integer> ends = new ArrayList<>();
        for (int from = 0; from < stream.length; from += piece) {
            int to = Math.min(stream.length, from + piece);
            for (int at = frames.end(stream, from, to); at >= 0; at = frames.end(stream, at, to)) {
                ends.add(at);
                assertThat(frames.isBetween()).isTrue();
            }
        }
        return ends;
    }

    @Test
    void shouldKeepTheBeginningAndTheTypeOfEachValue() {
        RespFrames frames = new RespFrames(12);
        byte[] stream = "*1\r\n$20\r\n01234567890123456789\r\n>0\r\n".getBytes(StandardCharsets.ISO_8859_1);

        int first = frames.end(stream, 0, stream.length);

        assertThat(frames.head()).isEqualTo("*1\r\n$20\r\n012");
        assertThat(frames.type()).isEqualTo('*');
        assertThat(frames.end(stream, first, stream.length)).isEqualTo(stream.length);
        assertThat(frames.head()).isEqualTo(">0\r\n");
        assertThat(frames.type()).isEqualTo('>');
    }

    @Test
    void shouldGiveUpWhereTheStreamIsNotResp() {
        RespFrames frames = new RespFrames(12);
        byte[] stream = "$what\r\n+OK\r\n".getBytes(StandardCharsets.ISO_8859_1);

        assertThat(frames.end(stream, 0, stream.length)).isEqualTo(-1);
        assertThat(frames.end(stream, 7, stream.length)).isEqualTo(-1);
    }
}
