package io.minutehand.loadtest.lab;

import java.nio.ByteBuffer;

/**
 * A job of the lab as its payload says it: so it comes to the handler by the scheduler that is measured, and in the way
 * that was meant.
 *
 * @param number of the job within its phase, from 0
 * @param warmup whether it belongs to the warm-up
 * @param dueUs when it is due by the plan, epoch microseconds
 */
record JobPayload(long number, boolean warmup, long dueUs) {
    /** The least that a payload takes, bytes. */
    static final int LEAST_BYTES = 16;

    /** Its id: 20 characters. */
    String id() {
        return String.format("%s%016d", warmup ? "wrm-" : "job-", number);
    }

    byte[] bytes(int size) {
        ByteBuffer bytes = ByteBuffer.allocate(size);
        bytes.putLong(warmup ? -1 - number : number).putLong(dueUs);
        return bytes.array();
    }

    static JobPayload of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        long signed = buffer.getLong();
        long dueUs = buffer.getLong();
        return signed < 0 ? new JobPayload(-1 - signed, true, dueUs) : new JobPayload(signed, false, dueUs);
    }
}
