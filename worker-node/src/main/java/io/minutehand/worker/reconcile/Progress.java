package io.minutehand.worker.reconcile;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How far a reconciliation has come, as it is kept in Redis. Immutable.
 *
 * @param query the fingerprint of the query
 * @param pass number of the pass, from 1
 * @param beganUs when it began, epoch microseconds by the clock of Redis
 * @param complete whether the last page was done
 * @param cursor the key of the last row of the last whole page, or null
 * @param counts of the whole pages
 */
record Progress(
        String query,
        long pass,
        long beganUs,
        boolean complete,
        @Nullable List<String> cursor,
        Counts counts) {
    private static final ObjectMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    static Progress begin(String query, long pass, long nowUs) {
        return new Progress(query, pass, nowUs, false, null, Counts.NONE);
    }

    Progress after(Counts page, @Nullable List<String> newCursor, boolean last) {
        return new Progress(query, pass, beganUs, last, newCursor, counts.plus(page));
    }

    String encode() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the progress of a reconciliation cannot be written", e);
        }
    }

    /** Nothing when there is none, or none that this code can read: then a pass begins. */
    static Optional<Progress> decode(String text) {
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            Progress read = JSON.readValue(text, Progress.class);
            Objects.requireNonNull(read.query, "query");
            Objects.requireNonNull(read.counts, "counts");
            Objects.requireNonNull(read.counts.missingIds(), "missingIds");
            Objects.requireNonNull(read.counts.refusals(), "refusals");
            return Optional.of(read);
        } catch (JsonProcessingException | NullPointerException ofAnotherVersion) {
            return Optional.empty();
        }
    }
}
