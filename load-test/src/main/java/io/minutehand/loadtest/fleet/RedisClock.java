package io.minutehand.loadtest.fleet;

import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisGoneException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An estimate of the Redis clock that does not use the product's own, so that a wrong clock there shows as early or
 * late jobs here.
 *
 * <p>Each sample is a {@code TIME} call: the server read its clock somewhere between sending and receiving, so the
 * middle is wrong by at most half of the round trip. The sample with the smallest bound counts, its bound growing with
 * age; one that contradicts it shows that the server's clock was set, and replaces it. Local time is
 * {@code System.nanoTime}. Thread-safe.
 */
public final class RedisClock implements AutoCloseable {
    /** Between samples, ms: rare enough to cost Redis nothing, often enough to see a clock that was set. */
    private static final long PAUSE_MS = 1_000;

    /** Samples at the start, of which the best is likely to be good. */
    private static final int FIRST_SAMPLES = 20;

    /** Two clocks may part by a 10,000th of the time that passed: 100 ppm, as NTP allows for a bad one. */
    private static final long DRIFT_DIVISOR = 10_000;

    private final Supplier<Long> serverUs;
    private final Runnable disconnect;
    private volatile Sample best;
    private volatile boolean closed;
    private volatile @Nullable RedisGoneException lost;

    private record Sample(long offsetNs, long errorNs, long atNs) {
        long errorNs(long nowNs) {
            return errorNs + Math.max(0, nowNs - atNs) / DRIFT_DIVISOR;
        }
    }

    /**
     * Takes its first samples.
     *
     * @param serverUs asks the server for its time, epoch microseconds
     * @param disconnect called once, on close
     */
    public RedisClock(Supplier<Long> serverUs, Runnable disconnect) {
        this.serverUs = serverUs;
        this.disconnect = disconnect;
        this.best = take();
        for (int i = 1; i < FIRST_SAMPLES; i++) {
            sample();
        }
    }

    /** Watches the clock of a server over a connection of its own, which it closes with itself. */
    public static RedisClock watch(RedisCommands redis) {
        RedisClock clock = new RedisClock(() -> timeUs(redis), redis::close);
        Thread sampler = new Thread(clock::keepSampling, "redis-clock");
        sampler.setDaemon(true);
        sampler.start();
        return clock;
    }

    /** Returns the server's time, epoch microseconds. */
    public long nowUs() {
        return (System.nanoTime() + best.offsetNs) / 1_000;
    }

    /** Returns how far {@link #nowUs} may be off, either way, microseconds, rounded up. */
    public long errorUs() {
        return best.errorNs(System.nanoTime()) / 1_000 + 1;
    }

    /** Returns when, in {@code System.nanoTime}, the server's clock reaches a time. */
    public long nanoTimeAt(long serverTimeUs) {
        return serverTimeUs * 1_000 - best.offsetNs;
    }

    /** Returns how the connection to the server was lost; null as long as the server answers. Known within a second. */
    public @Nullable RedisGoneException lost() {
        return lost;
    }

    /** Takes one sample. For one thread. */
    public void sample() {
        Sample fresh = take();
        Sample current = best;
        long currentErrorNs = current.errorNs(fresh.atNs);
        boolean better = fresh.errorNs <= currentErrorNs;
        boolean wasSet = Math.abs(fresh.offsetNs - current.offsetNs) > fresh.errorNs + currentErrorNs;
        if (better || wasSet) {
            best = fresh;
        }
    }

    private Sample take() {
        long sentNs = System.nanoTime();
        long us = serverUs.get();
        long receivedNs = System.nanoTime();
        long halfNs = (receivedNs - sentNs) / 2;
        return new Sample(us * 1_000 - (sentNs + halfNs), halfNs + 1_000, receivedNs);
    }

    private void keepSampling() {
        while (!closed) {
            try {
                Thread.sleep(PAUSE_MS);
                sample();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (RedisGoneException e) {
                // The last estimate stays, and its bound grows.
                if (!closed) {
                    lost = e;
                }
                return;
            } catch (RuntimeException e) {
                // An error instead of a time, from a server that is loading its data, say: the next try may succeed.
                if (closed) {
                    return;
                }
            }
        }
    }

    private static long timeUs(RedisCommands redis) {
        List<String> time = redis.texts("TIME");
        return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
    }

    @Override
    public void close() {
        closed = true;
        disconnect.run();
    }
}
