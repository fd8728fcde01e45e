package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests that a proxy in front could read otherwise than the router: all are refused, and what hides behind them is not executed. */
class FramingIT {
    private static TestRouter http;

    @BeforeAll
    static void start() {
        http = TestRouter.start();
        http.post("/v1/topics/t/jobs", "{}");
    }

    @AfterAll
    static void stop() {
        http.close();
    }

    private static final String HEAD =
            "POST /v1/topics/t/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

    /** Chunked: its body ends with the empty chunk. By its length it would go on into the marker. */
    private static final String CHUNKS = "2\r\n{}\r\n0\r\n\r\n";

    static Stream<Arguments> corpus() {
        Map<String, String> corpus = new LinkedHashMap<>();
        corpus.put("both lengths", HEAD + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS);
        corpus.put("both lengths, turned", HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + CHUNKS);
        corpus.put("two lengths", HEAD + "Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}");
        corpus.put("the same length twice", HEAD + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}");
        corpus.put("a list of lengths", HEAD + "Content-Length: 2, 2\r\n\r\n{}");
        corpus.put("a length with a sign", HEAD + "Content-Length: +2\r\n\r\n{}");
        corpus.put("a negative length", HEAD + "Content-Length: -2\r\n\r\n{}");
        corpus.put("a hexadecimal length", HEAD + "Content-Length: 0x2\r\n\r\n{}");
        corpus.put("a folded length", HEAD + "Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n" + CHUNKS);
        corpus.put("a blank before the colon", HEAD + "Content-Length : 2\r\n\r\n{}");
        corpus.put("another transfer coding", HEAD + "Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS);
        corpus.put("chunked twice", HEAD + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS);
        corpus.put("chunked and something else", HEAD + "Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS);
        corpus.put("an unknown transfer coding", HEAD + "Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}");
        corpus.put("HTTP/1.0 and chunked", HEAD.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n\r\n" + CHUNKS);
        corpus.put("a control byte before the line", "\u0001" + HEAD + "Content-Length: 2\r\n\r\n{}");
        corpus.put(
                "a bare line feed",
                HEAD.replace("Host: localhost\r\n", "Host: localhost\n") + "Content-Length: 2\r\n\r\n{}");
        corpus.put("a bare carriage return", HEAD + "X-A: b\rContent-Length: 0\r\nContent-Length: 2\r\n\r\n{}");
        corpus.put("a zero byte in a header", HEAD + "X-A: b\u0000c\r\nContent-Length: 2\r\n\r\n{}");
        corpus.put("a chunk size with a sign", HEAD + "Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n");
        corpus.put("a chunk size with 0x", HEAD + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n");
        corpus.put("a huge chunk size", HEAD + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n");
        corpus.put("a chunk longer than it says", HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n");
        corpus.put("a chunk without line end", HEAD + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n");
        corpus.put("two hosts", HEAD + "Host: y\r\nContent-Length: 2\r\n\r\n{}");
        corpus.put("no host", HEAD.replace("Host: localhost\r\n", "") + "Content-Length: 2\r\n\r\n{}");
        corpus.put("another version", HEAD.replace("1.1", "1.7") + "Content-Length: 2\r\n\r\n{}");
        corpus.put("HTTP/2 in clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        return corpus.entrySet().stream().map(entry -> Arguments.of(entry.getKey(), entry.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("corpus")
    void shouldRefuseItAndCloseTheConnection(String name, String request) throws Exception {
        String marker = "marker-" + Integer.toHexString(name.hashCode());
        String body = "{\"id\":\"" + marker + "\",\"delay\":60000}";
        String behind =
                "POST /v1/topics/t/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body;
        String answer = http.raw(request + behind);
        // A body that is malformed in its middle ends the connection without an answer.
        assertThat(answer).as("answer to %s", name).matches("(?s)|HTTP/\\d\\.\\d 400 .*");
        assertThat(answer.split("HTTP/\\d\\.\\d \\d", -1))
                .as("answers: %s", answer)
                .hasSizeLessThanOrEqualTo(2);
        assertThat(http.get("/v1/topics/t/jobs/" + marker).status())
                .as("the marker")
                .isEqualTo(404);
    }

    /** RFC 9112 allows a blank in its place; where the body ends is not touched. */
    @Test
    void shouldReadAFoldedHeaderAsOneLine() throws Exception {
        String folded = HEAD + "X-Request-Id: b\r\n c\r\nContent-Length: 2\r\n\r\n{}";
        String last = HEAD + "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
        assertThat(http.raw(folded + last).split("HTTP/1.1 201 ", -1)).hasSize(3);
    }

    @Test
    void shouldServeWhatIsPipelinedInGoodForm() throws Exception {
        String one = HEAD + "Content-Length: 2\r\n\r\n{}";
        String last = HEAD + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS;
        assertThat(http.raw(one + one + last).split("HTTP/1.1 201 ", -1)).hasSize(4);
    }
}
