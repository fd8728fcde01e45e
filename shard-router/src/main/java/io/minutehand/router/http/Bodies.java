package io.minutehand.router.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Reads bodies: of the kind that is wanted, no larger than allowed, and not too many bytes at the same time. Thread-safe. */
final class Bodies {
    private static final byte[] NOTHING = {};

    private final long limitBytes;
    private final AtomicLong heldBytes = new AtomicLong();

    Bodies(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Takes a body; what it throws becomes the answer. */
    interface Taker {
        void take(byte[] body);
    }

    /**
     * Reads a body into memory; its bytes count as held until the call is answered.
     *
     * @param types the media types that are read
     * @param most bytes of the body, at most
     * @throws Problem when it is of another kind, or announced as too large
     */
    void read(Call call, Set<String> types, int most, Taker taker) {
        requireType(call.request(), types);
        requireFits(call.request(), most);
        allow(call);
        Reading reading = new Reading(call, most, taker);
        call.request().handler(reading::add);
        call.request().endHandler(end -> reading.done());
    }

    /** @throws Problem when the body is not of these types, or not readable as it is */
    static void requireType(HttpServerRequest request, Set<String> types) {
        String accepted = String.join(", ", types);
        String given = request.getHeader(HttpHeaders.CONTENT_TYPE);
        String coding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
        if (coding != null && !coding.equalsIgnoreCase("identity")) {
            throw new Problem(
                            ProblemType.UNSUPPORTED_MEDIA_TYPE,
                            "the body is encoded as " + Json.shown(coding) + ", which is not read here")
                    .header("Accept", accepted)
                    .header("Accept-Encoding", "identity");
        }
        if (given == null || !types.contains(type(given))) {
            throw new Problem(
                            ProblemType.UNSUPPORTED_MEDIA_TYPE,
                            "the content type is " + (given == null ? "missing" : Json.shown(given)) + ", read are "
                                    + accepted)
                    .header("Accept", accepted);
        }
    }

    /** The media type without parameters; one whose character set is not UTF-8 is none. */
    static String type(String contentType) {
        String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].trim().replace("\"", "");
            if (parameter.startsWith("charset=") && !parameter.equals("charset=utf-8")) {
                return "";
            }
        }
        return parts[0].trim();
    }

    private static void requireFits(HttpServerRequest request, int most) {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        if (length != null && (length.length() > 10 || Long.parseLong(length) > most)) {
            throw tooLarge(Json.shown(length) + " bytes", most);
        }
    }

    static Problem tooLarge(String size, int most) {
        return new Problem(ProblemType.PAYLOAD_TOO_LARGE, "the body has " + size + ", allowed are at most " + most)
                .with("limitBytes", most);
    }

    /** Lets the client send what it announced. */
    static void allow(Call call) {
        String expectation = call.request().getHeader(HttpHeaders.EXPECT);
        if (expectation == null) {
            return;
        }
        if (!expectation.equalsIgnoreCase("100-continue")) {
            throw new Problem(ProblemType.EXPECTATION_FAILED, "the request expects " + Json.shown(expectation));
        }
        call.response().writeContinue();
    }

    private final class Reading {
        private final Call call;
        private final int most;
        private final Taker taker;
        private @Nullable Buffer body;
        private long held;

        Reading(Call call, int most, Taker taker) {
            this.call = call;
            this.most = most;
            this.taker = taker;
            call.atEnd(this::giveBack);
        }

        void add(Buffer chunk) {
            if (call.answered()) {
                return;
            }
            int length = chunk.length();
            if (held + length > most) {
                body = null;
                call.problem(tooLarge("more than that", most));
                return;
            }
            held += length;
            if (heldBytes.addAndGet(length) > limitBytes) {
                body = null;
                call.problem(Problem.passing(
                        ProblemType.TOO_MANY_REQUESTS,
                        "bodies of other requests hold " + limitBytes + " bytes",
                        Call.SOON_S));
                return;
            }
            Buffer before = body;
            body = before == null ? chunk : before.appendBuffer(chunk);
        }

        void done() {
            if (call.answered()) {
                return;
            }
            call.arrived();
            Buffer all = body;
            byte[] bytes = all == null ? NOTHING : all.getBytes();
            body = null;
            try {
                taker.take(bytes);
            } catch (RuntimeException failed) {
                call.fail(failed);
            }
        }

        private void giveBack() {
            heldBytes.addAndGet(-held);
            held = 0;
        }
    }
}
