package io.minutehand.router.http;

import io.minutehand.router.http.Route.Access;
import io.minutehand.router.http.Scope.Right;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lets in who has a key that allows what is asked for, and not too often. Thread-safe. */
final class Gate {
    private static final String BEARER = "bearer ";
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final @Nullable ApiKeys keys;

    /** @param keys null = everybody who names this machine by a loopback name may do everything */
    Gate(@Nullable ApiKeys keys) {
        this.keys = keys;
    }

    /**
     * The key of a request.
     *
     * @throws Problem 401 without a valid key, 403 with one that does not allow it, 429 with one that is used up
     */
    ApiKey admit(Route route, Call call) {
        if (route.access() == Access.OPEN) {
            return ApiKey.ANYBODY;
        }
        ApiKey key = keys == null ? anybody(call.request()) : keys.require(sent(call.request()));
        switch (route.access()) {
            case OPEN, ANY_KEY -> {}
            case PRODUCE -> key.require(Right.PRODUCE, call.topic());
            case READ -> key.require(Right.READ, call.topic());
            case ADMIN -> key.require(Right.ADMIN, call.topic());
            case PRODUCE_SOMEWHERE -> requireSome(key.allowsSomewhere(Right.PRODUCE), Right.PRODUCE + ":TOPIC");
            case READ_SOMEWHERE -> requireSome(key.allowsSomewhere(Right.READ), Right.READ + ":TOPIC");
            case READ_ALL -> requireSome(key.allowsEverywhere(Right.READ), Right.READ + ":*");
        }
        pay(key, 1);
        return key;
    }

    /**
     * The key of a request that lasts, as it is now.
     *
     * @throws Problem 401 when it is not valid any more
     */
    ApiKey again(ApiKey admitted) {
        return keys == null ? admitted : keys.again(admitted);
    }

    private static void requireSome(boolean allowed, String scope) {
        if (!allowed) {
            throw ApiKey.forbidden(scope);
        }
    }

    /**
     * Takes so much of a key's rate.
     *
     * @throws Problem 429 when it is used up
     */
    static void pay(ApiKey key, int jobs) {
        long waitNs = owed(key, jobs);
        if (waitNs > 0) {
            throw Problem.passing(
                    ProblemType.RATE_LIMITED,
                    "the key " + key.id() + " has used up its rate",
                    Math.max(1, TimeUnit.NANOSECONDS.toSeconds(waitNs) + 1));
        }
    }

    /** Takes so much of a key's rate, or answers for how many nanoseconds there is none. */
    static long owed(ApiKey key, int jobs) {
        RateLimit limit = key.limit();
        return limit == null || jobs == 0 ? 0 : limit.take(jobs, System.nanoTime());
    }

    private static String sent(HttpServerRequest request) {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (header == null) {
            throw ApiKeys.challenge(ProblemType.MISSING_KEY, "the request has no key");
        }
        if (!header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
            throw ApiKeys.challenge(ProblemType.INVALID_KEY, "the header Authorization is not Bearer KEY");
        }
        return header.substring(BEARER.length()).trim();
    }

    /** A page of a stranger, in a browser on this machine, may reach a loopback port by a name of its own. */
    private static ApiKey anybody(HttpServerRequest request) {
        String host = request.getHeader(HttpHeaders.HOST);
        String name = host == null ? "" : host.replaceFirst(":\\d{1,5}$", "").toLowerCase(Locale.ROOT);
        if (!LOOPBACK.contains(name)) {
            throw new Problem(
                    ProblemType.FORBIDDEN, "without keys the router answers to localhost, 127.0.0.1 and [::1] alone");
        }
        return ApiKey.ANYBODY;
    }
}
