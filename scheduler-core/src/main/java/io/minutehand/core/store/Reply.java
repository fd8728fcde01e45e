package io.minutehand.core.store;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A script's reply: a flat list of texts, byte strings and whole numbers, and when it was asked for and came.
 *
 * @param values what the script returned
 * @param replicas how many replicas are known to have what the script wrote; 0 when nobody waited for them
 * @param sentNs nanoTime before the call was sent
 * @param receivedNs nanoTime when the reply arrived
 */
record Reply(List<Object> values, int replicas, long sentNs, long receivedNs) {
    int size() {
        return values.size();
    }

    byte[] bytes(int at) {
        return (byte[]) values.get(at);
    }

    String text(int at) {
        return new String(bytes(at), StandardCharsets.UTF_8);
    }

    /** A number, given as one or as digits. */
    long number(int at) {
        Object value = values.get(at);
        return value instanceof Long number ? number : Long.parseLong(text(at));
    }

    /** The first value, a status, as a constant of an enum. */
    <E extends Enum<E>> E status(Class<E> type) {
        return Enum.valueOf(type, text(0));
    }
}
