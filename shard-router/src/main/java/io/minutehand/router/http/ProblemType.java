package io.minutehand.router.http;

import java.util.Locale;

/**
 * Every kind of problem that an answer may tell of: its status, its title and what to do about it. Its name, in lower case and with hyphens, is
 * the end of the {@code type} URI (RFC 9457), {@code /problems/NAME}; README lists them all.
 */
enum ProblemType {
    MALFORMED_REQUEST(400, "The request cannot be read", "Correct the request; it will fail alike until then."),
    MISSING_KEY(401, "No API key", "Send the header Authorization: Bearer KEY."),
    INVALID_KEY(401, "The API key is not valid", "Use a key that is in the router's key file and has not expired."),
    FORBIDDEN(403, "The API key does not allow this", "Use a key with the scope that the detail names."),
    NOT_FOUND(404, "There is nothing here", "See /openapi.json for what there is."),
    UNKNOWN_TOPIC(404, "There is no such topic", "Declare it, or schedule a job in it if topics may be created so."),
    JOB_NOT_FOUND(
            404,
            "There is no such job",
            "It was never scheduled, or it ended longer ago than the topic's retention: there is nothing to repeat."),
    METHOD_NOT_ALLOWED(405, "This cannot be done here", "Use one of the methods that the header Allow names."),
    REQUEST_TIMEOUT(408, "The request took too long to arrive", "Send it faster, or in smaller pieces."),
    CONFLICT(
            409,
            "Another job has this id",
            "Nothing was changed. PATCH moves that job to another time while it waits; \"replace\": true takes its place; or use another id."),
    RUNNING(
            409,
            "The job is running",
            "Nothing was changed. Wait until it has ended, and repeat the call if it is still wanted."),
    ENDED(
            409,
            "The job has ended",
            "Nothing was changed, and nothing can be: schedule it again if it is to run again."),
    CHANGED(
            409,
            "It was changed by somebody else meanwhile",
            "Nothing was changed. Read it again, and repeat the call."),
    PAYLOAD_TOO_LARGE(413, "It is too large", "Send less; keep large data elsewhere and its place in the payload."),
    URI_TOO_LONG(414, "The URI is too long", "Shorten it."),
    UNSUPPORTED_MEDIA_TYPE(
            415,
            "The body is of a kind that is not read here",
            "Send the content type that the header Accept names, not compressed."),
    EXPECTATION_FAILED(417, "The expectation cannot be met", "Send no Expect header but 100-continue."),
    INVALID_REQUEST(422, "The request asks for what cannot be", "Correct the value that pointer and detail name."),
    RATE_LIMITED(
            429, "The API key has used up its rate", "Nothing was done. Repeat the call after Retry-After seconds."),
    TOO_MANY_REQUESTS(
            429, "Too many requests are under way", "Nothing was done. Repeat the call after Retry-After seconds."),
    HEADERS_TOO_LARGE(431, "The headers are too many or too large", "Send fewer, or shorter ones."),
    INTERNAL_ERROR(
            500,
            "The router failed",
            "Repeat the call with the same id. Report the request id: the log has the cause."),
    NOT_STORED(503, "The job was not stored", "For sure: repeat the call after Retry-After seconds, with the same id."),
    STORE_FULL(
            503,
            "Redis is full",
            "For sure not stored: repeat the call after Retry-After seconds, or raise maxmemory."),
    UNAVAILABLE(503, "It cannot be answered for now", "Repeat the call after Retry-After seconds."),
    OUTCOME_UNKNOWN(
            504,
            "It is not known whether it was done",
            "Repeat the very same call, with the same id: it cannot be done twice."),
    NOT_REPLICATED(
            504,
            "Stored, but not yet in as many replicas as are wanted",
            "Repeat the very same call, with the same id: it is answered once the replicas have it, and cannot be stored twice.");

    private final int status;
    private final String title;
    private final String remedy;
    private final String uri;

    ProblemType(int status, String title, String remedy) {
        this.status = status;
        this.title = title;
        this.remedy = remedy;
        this.uri = "/problems/" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    int status() {
        return status;
    }

    String title() {
        return title;
    }

    /** What the caller is to do. */
    String remedy() {
        return remedy;
    }

    /** The {@code type} of the problem. */
    String uri() {
        return uri;
    }
}
