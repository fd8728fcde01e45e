package io.minutehand.core.store;

import io.minutehand.core.bucket.ShardMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Jobs as benchmarks want them: always the same ones. */
final class StoredJobs {
    private static final long CREATED_MS = 1_800_000_000_000L;
    private static final int ID_CHARS = 20;
    private static final int HEADER_BYTES = 36;

    private final Random random = new Random(1);

    List<String> ids(int count) {
        List<String> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            StringBuilder id = new StringBuilder("order-");
            while (id.length() < ID_CHARS) {
                id.append(Character.forDigit(random.nextInt(36), 36));
            }
            ids.add(id.toString());
        }
        return ids;
    }

    byte[] payload(int bytes) {
        byte[] payload = new byte[bytes];
        random.nextBytes(payload);
        return payload;
    }

    static Map<String, String> headers(int count) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            headers.put("header-" + i, "the value of header " + i);
        }
        return headers;
    }

    /** A time within the two minutes after {@link #CREATED_MS}. */
    long dueMs() {
        return CREATED_MS + random.nextInt(120_000);
    }

    /** A record as the scripts write it when they hand the job out. */
    byte[] record(byte[] digest, byte[] body) {
        long dueMs = dueMs();
        return ByteBuffer.allocate(HEADER_BYTES + body.length)
                .put((byte) JobRecord.VERSION)
                .put((byte) 'I')
                .putShort((short) 1)
                .putShort((short) 1)
                .putInt((int) (dueMs / 60_000))
                .putLong(dueMs)
                .putLong(CREATED_MS)
                .put(digest)
                .putShort((short) 0)
                .put(body)
                .array();
    }

    static String member(String id) {
        return ShardMap.memberOf(id);
    }
}
