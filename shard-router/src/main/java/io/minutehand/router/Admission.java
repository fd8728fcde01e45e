package io.minutehand.router;

import io.minutehand.router.BufferGate.Entry;
import io.minutehand.router.Waves.Wave;
import java.util.concurrent.CompletableFuture;

/** Lets calls in: counts them for flush and close, and holds their bytes of the buffer until they have their answer. Thread-safe. */
final class Admission {
    private final RouterSettings settings;
    private final BufferGate gate;
    private final Waves waves = new Waves();

    Admission(RouterSettings settings) {
        this.settings = settings;
        this.gate = new BufferGate(settings.bufferBytes());
    }

    /** What a call holds while it is under way. */
    record Pass(BufferGate gate, Wave wave, long bytes) {
        /** The call has its answer. */
        void giveBack() {
            gate.release(bytes);
            wave.leave();
        }
    }

    /**
     * Lets a call in; blocks for room in the buffer if so set.
     *
     * @param call what it is, for messages
     * @throws RouterBufferFullException when there is no room
     * @throws IllegalStateException when the router is closed
     */
    Pass admit(String call, long bytes) {
        Wave wave = waves.enter();
        if (wave == null) {
            throw closedException(call);
        }
        boolean taken = false;
        try {
            taken = gate.tryAcquire(bytes);
            if (!taken) {
                boolean block = settings.onFull() == OnFull.BLOCK;
                Entry entry = gate.acquire(bytes, block ? settings.blockFor().toNanos() : 0);
                taken = entry == Entry.TAKEN;
                switch (entry) {
                    case TAKEN -> {}
                    case CLOSED -> throw closedException(call);
                    case INTERRUPTED ->
                        throw new RouterBufferFullException(call, "interrupted while it waited", bytes, gate);
                    case TIMED_OUT ->
                        throw new RouterBufferFullException(
                                call, block ? "waited blockFor=" + settings.blockFor() : "onFull=FAIL", bytes, gate);
                }
            }
            return new Pass(gate, wave, bytes);
        } finally {
            if (!taken) {
                wave.leave();
            }
        }
    }

    /** @throws IllegalStateException when the router is closed */
    void requireOpen(String call) {
        if (waves.closed()) {
            throw closedException(call);
        }
    }

    private static IllegalStateException closedException(String call) {
        return new IllegalStateException(call + " refused: this JobRouter is closed, or being closed");
    }

    /** Completes when all calls let in so far have their answer. */
    CompletableFuture<Void> answered() {
        return waves.turn();
    }

    /** Lets nobody in any more, those who wait for room neither; completes when all others have their answer. */
    CompletableFuture<Void> close() {
        CompletableFuture<Void> answered = waves.close();
        gate.close();
        return answered;
    }

    long usedBytes() {
        return gate.usedBytes();
    }
}
