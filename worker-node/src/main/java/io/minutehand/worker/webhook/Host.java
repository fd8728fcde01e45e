package io.minutehand.worker.webhook;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.minutehand.worker.Again;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * What keeps a receiver that hangs or fails from taking the slots of others: a bound of deliveries at the same time, and a circuit breaker. Jobs that
 * are turned away here come again later, and no attempt is counted: they were not tried. Thread-safe.
 */
final class Host {
    private static final int WINDOW = 20;
    private static final int LEAST_CALLS = 10;
    private static final int PROBES = 2;
    private static final float FAILED_PERCENT = 50;

    /** How long a breaker stays open first; twice as long each time that the probes fail, too. */
    private static final long OPEN_MS = 5_000;

    private static final long LONGEST_OPEN_MS = 300_000;
    private static final int DOUBLINGS = 7;

    /** How long a slot may wait for a delivery of the same host to end: longer than most deliveries take. */
    private static final long PATIENCE_MS = 50;

    /** A job that finds its host full comes again within this time and twice as much. */
    private static final long FULL_MS = 250;

    private final HostPort at;
    private final Semaphore free;
    private final CircuitBreaker breaker;

    /** How often the breaker has opened in a row. */
    private volatile int opened = 1;

    Host(HostPort at, int most) {
        this.at = at;
        this.free = new Semaphore(most);
        this.breaker = CircuitBreaker.of(
                at.toString(),
                CircuitBreakerConfig.custom()
                        .slidingWindow(
                                WINDOW,
                                LEAST_CALLS,
                                CircuitBreakerConfig.SlidingWindowType.COUNT_BASED,
                                CircuitBreakerConfig.SlidingWindowSynchronizationStrategy.LOCK_FREE)
                        .failureRateThreshold(FAILED_PERCENT)
                        .permittedNumberOfCallsInHalfOpenState(PROBES)
                        .waitIntervalFunctionInOpenState(times -> {
                            opened = times;
                            return openMs(times);
                        })
                        .build());
    }

    private static long openMs(int times) {
        return Math.min(LONGEST_OPEN_MS, OPEN_MS << Math.min(DOUBLINGS, Math.max(0, times - 1)));
    }

    /** What a delivery told about its host. */
    enum Health {
        /** It answered. */
        UP,
        /** It failed, or did not answer. */
        DOWN,
        /** It was not asked, or asked to be left alone for a while. */
        UNKNOWN
    }

    /** One delivery, on the thread that makes it. */
    interface Delivery {
        Health make() throws Exception;
    }

    /**
     * Makes a delivery if the host may have one now.
     *
     * @throws Again when it may not
     * @throws Exception what the delivery throws; it counts as DOWN unless it is a {@link Refusal}
     */
    void deliver(Delivery delivery) throws Exception {
        if (!breaker.tryAcquirePermission()) {
            throw Again.after(spread(openMs(opened)));
        }
        boolean entered = false;
        Health health = Health.UNKNOWN;
        try {
            entered = free.tryAcquire(PATIENCE_MS, TimeUnit.MILLISECONDS);
            if (!entered) {
                throw Again.after(spread(FULL_MS));
            }
            health = Health.DOWN;
            health = delivery.make();
        } catch (InterruptedException stopped) {
            health = Health.UNKNOWN;
            throw stopped;
        } catch (Refusal refusal) {
            health = refusal.health;
            throw refusal.cause;
        } finally {
            if (entered) {
                free.release();
            }
            told(health);
        }
    }

    private void told(Health health) {
        switch (health) {
            case UP -> breaker.onSuccess(0, TimeUnit.NANOSECONDS);
            case DOWN -> breaker.onError(0, TimeUnit.NANOSECONDS, new DeliveryException(at + " is down"));
            default -> breaker.releasePermission();
        }
    }

    /** From a time to twice as much, so that those who wait do not all come back at once. */
    private static Duration spread(long ms) {
        return Duration.ofMillis(ms + ThreadLocalRandom.current().nextLong(ms));
    }

    /** Ends a delivery by an exception, and says what it tells about the host. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;

        private final Health health;
        private final RuntimeException cause;

        Refusal(Health health, RuntimeException cause) {
            super(null, cause, false, false);
            this.health = health;
            this.cause = cause;
        }
    }
}
