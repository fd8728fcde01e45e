package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/** Answers what is no HTTP request, or one with a head beyond the limits; its connection is closed. Stateless. */
final class Refusals {
    private static final int HEADERS = 64;

    private Refusals() {}

    /**
     * What is left to check of a head that Netty accepts: things that a proxy in front could understand otherwise.
     *
     * @throws Problem when there is such a thing
     */
    static void requireGoodForm(HttpServerRequest request) {
        MultiMap headers = request.headers();
        if (headers.size() > HEADERS) {
            throw new Problem(
                    ProblemType.HEADERS_TOO_LARGE,
                    "the request has " + headers.size() + " headers, allowed are at most " + HEADERS);
        }
        if (request.version() == HttpVersion.HTTP_1_1
                && headers.getAll(HttpHeaders.HOST).size() != 1) {
            throw new Problem(ProblemType.MALFORMED_REQUEST, "HTTP/1.1 needs one header Host");
        }
        String coding = headers.get(HttpHeaders.TRANSFER_ENCODING);
        if (coding != null && !coding.equalsIgnoreCase("chunked")) {
            throw new Problem(ProblemType.MALFORMED_REQUEST, "the only transfer coding that is read here is chunked");
        }
    }

    static void malformed(HttpServerRequest request, String requestId) {
        Throwable cause = request.decoderResult().cause();
        String kind = cause == null ? "" : cause.getClass().getSimpleName();
        Problem problem = switch (kind) {
            case "TooLongHttpLineException" -> new Problem(ProblemType.URI_TOO_LONG, "the request line is too long");
            case "TooLongHttpHeaderException" ->
                new Problem(ProblemType.HEADERS_TOO_LARGE, "the headers are too large");
            default -> new Problem(ProblemType.MALFORMED_REQUEST, "this is no request of HTTP/1.1 or 1.0");
        };
        ObjectNode body = problem.fill(Json.MAPPER.createObjectNode());
        body.put("requestId", requestId);
        request.response()
                .setStatusCode(problem.type().status())
                .putHeader(HttpHeaders.CONTENT_TYPE, Call.PROBLEM)
                .putHeader(Call.REQUEST_ID, requestId)
                .putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE)
                .end(Call.bytes(body));
        request.connection().close();
    }
}
