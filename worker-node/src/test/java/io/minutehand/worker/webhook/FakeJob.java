package io.minutehand.worker.webhook;

import io.minutehand.worker.JobContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job as a handler sees it. */
record FakeJob(String id, Map<String, String> headers, Duration remaining) implements JobContext {
    static final Instant DUE = Instant.parse("2026-01-31T08:00:00.250Z");
    static final Instant STARTED = DUE.plusMillis(3);

    static FakeJob of(String id) {
        return new FakeJob(id, Map.of(), Duration.ofMinutes(1));
    }

    @Override
    public String topic() {
        return "orders";
    }

    @Override
    public @Nullable String businessId() {
        return null;
    }

    @Override
    public int attempt() {
        return 2;
    }

    @Override
    public int delivery() {
        return 1;
    }

    @Override
    public Instant dueAt() {
        return DUE;
    }

    @Override
    public Instant createdAt() {
        return DUE.minusSeconds(60);
    }

    @Override
    public Instant startedAt() {
        return STARTED;
    }

    @Override
    public Duration lateness() {
        return Duration.between(DUE, STARTED);
    }

    @Override
    public boolean isStillMine() {
        return true;
    }
}
