package io.minutehand.router.http;

import io.minutehand.router.http.Scope.Right;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A key as the router knows it: not the secret, but its hash.
 *
 * @param id what the key begins with, and what log lines show
 * @param sha256 of the whole key, 32 bytes
 * @param scopes what it allows
 * @param expires from then on it is not valid, or null
 * @param limit of jobs and calls a second, or null
 */
@SuppressWarnings("ArrayRecordComponent") // never compared as a record
record ApiKey(
        String id,
        byte[] sha256,
        List<Scope> scopes,
        @Nullable Instant expires,
        @Nullable RateLimit limit) {
    /** Whoever comes, where no keys are asked for. */
    static final ApiKey ANYBODY =
            new ApiKey("anybody", new byte[0], List.of(new Scope(Right.ADMIN, Scope.ALL)), null, null);

    boolean allows(Right right, String topic) {
        return scopes.stream().anyMatch(scope -> scope.allows(right) && scope.covers(topic));
    }

    boolean allowsSomewhere(Right right) {
        return scopes.stream().anyMatch(scope -> scope.allows(right));
    }

    boolean allowsEverywhere(Right right) {
        return scopes.stream()
                .anyMatch(scope -> scope.allows(right) && scope.topics().equals(Scope.ALL));
    }

    /** @throws Problem when the topic is not within its scopes */
    void require(Right right, String topic) {
        if (!allows(right, topic)) {
            throw forbidden(right + ":" + topic);
        }
    }

    static Problem forbidden(String scope) {
        return new Problem(ProblemType.FORBIDDEN, "needed is the scope " + Json.shown(scope));
    }

    @Override
    public String toString() {
        return "ApiKey[" + id + " " + scopes + "]";
    }
}
