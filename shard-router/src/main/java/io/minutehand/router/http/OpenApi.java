package io.minutehand.router.http;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/** {@code GET /openapi.json}: the document of this API (OpenAPI 3.1). Tests hold it against the table of routes and against real answers. */
final class OpenApi {
    private static final byte[] DOCUMENT = read();

    private OpenApi() {}

    static void show(Call call) {
        call.answer(200, Call.JSON, Buffer.buffer(DOCUMENT));
    }

    private static byte[] read() {
        try (InputStream in =
                Objects.requireNonNull(OpenApi.class.getResourceAsStream("openapi.json"), "openapi.json")) {
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
