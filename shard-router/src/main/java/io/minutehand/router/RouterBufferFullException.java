package io.minutehand.router;

/** A router's buffer had no room for a call, at once or within the time that it may block: nothing of that call was sent. */
public final class RouterBufferFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long usedBytes;
    private final long limitBytes;
    private final int waiting;

    RouterBufferFullException(String call, String why, long neededBytes, BufferGate gate) {
        this(call, why, neededBytes, gate.usedBytes(), gate.limitBytes(), gate.waiting());
    }

    private RouterBufferFullException(
            String call, String why, long neededBytes, long usedBytes, long limitBytes, int waiting) {
        super(call + " found no room in the router's buffer (" + why + "): needs " + neededBytes + " bytes, used "
                + usedBytes + " of bufferBytes=" + limitBytes + ", callers waiting " + waiting
                + "; Redis is slow or away, or raise bufferBytes");
        this.usedBytes = usedBytes;
        this.limitBytes = limitBytes;
        this.waiting = waiting;
    }

    /** Bytes that calls without an answer held. */
    public long usedBytes() {
        return usedBytes;
    }

    /** The router's {@code bufferBytes}. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Callers that were blocked, this one not counted. */
    public int waiting() {
        return waiting;
    }
}
