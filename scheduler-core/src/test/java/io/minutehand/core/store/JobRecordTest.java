package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.bucket.ShardMap;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobState;
import io.minutehand.core.job.Limits;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobRecordTest {
    private static final byte[] DIGEST = {1, 2, 3, 4, 5, 6, 7, 8};

    @Test
    void shouldTakeTheSameRequestOfAnotherSpanForTheSame() {
        byte[] payload = {1};
        assertThat(JobRecord.digest(null, Map.of("a", "b", "Traceparent", "x", "tracestate", "y"), payload, "T1"))
                .isEqualTo(JobRecord.digest(null, Map.of("a", "b"), payload, "T1"));
    }

    @Test
    void shouldReadBackWhatItWrote() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("z", "1");
        headers.put("\u00e4\ud83d\ude00", "");
        headers.put("", "x");
        byte[] payload = {0, (byte) 0xff, '\n', 'x'};

        Job job = decode("none of \u00e4", JobRecord.encodeBody("order \u4e00", headers, payload));

        assertThat(job.topic()).isEqualTo("orders");
        assertThat(job.id()).isEqualTo("a");
        assertThat(job.businessId()).isEqualTo("order \u4e00");
        assertThat(job.headers()).isEqualTo(headers);
        assertThat(job.headers().keySet()).as("in their order").containsExactly("z", "\u00e4\ud83d\ude00", "");
        assertThat(job.payload()).isEqualTo(payload);
        assertThat(job.state()).isEqualTo(JobState.IN_FLIGHT);
        assertThat(job.attempt()).isEqualTo(65535);
        assertThat(job.delivery()).isEqualTo(40000);
        assertThat(job.dueAt().toEpochMilli()).isEqualTo(1_700_000_000_001L);
        assertThat(job.createdAt().toEpochMilli()).isEqualTo(1_600_000_000_002L);
        assertThat(job.lastFailure()).isEqualTo("none of \u00e4");
        assertThat(job.toString())
                .contains("id=a", "business_id=\"order \\u4e00\"")
                .doesNotContain("[0, -1");
    }

    @Test
    void shouldTellNothingFromEmpty() {
        Job none = decode("", JobRecord.encodeBody(null, Map.of(), new byte[0]));
        Job empty = decode("", JobRecord.encodeBody("", Map.of("", ""), new byte[0]));

        assertThat(none.businessId()).isNull();
        assertThat(none.headers()).isEmpty();
        assertThat(none.payload()).isEmpty();
        assertThat(none.lastFailure()).isNull();
        assertThat(empty.businessId()).isEmpty();
        assertThat(empty.headers()).isEqualTo(Map.of("", ""));
    }

    @Test
    void shouldTakeTheLargestOfEverything() {
        String business = "\u4e00".repeat(Limits.BUSINESS_ID_CHARS);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("name", "v".repeat(Limits.HEADER_BYTES - 4));
        byte[] payload = new byte[Limits.PAYLOAD_BYTES_CEILING];
        payload[payload.length - 1] = 7;

        Job job = decode("r".repeat(Limits.REASON_BYTES), JobRecord.encodeBody(business, headers, payload));

        assertThat(job.businessId()).isEqualTo(business);
        assertThat(job.headers()).isEqualTo(headers);
        assertThat(job.payload()).isEqualTo(payload);
        assertThat(job.lastFailure()).hasSize(Limits.REASON_BYTES);
    }

    @Test
    void shouldWriteABodyThatNeverChanges() {
        assertThat(HexFormat.of().formatHex(JobRecord.encodeBody("b", Map.of("n", "v"), new byte[] {9})))
                .as("stored jobs depend on it")
                .isEqualTo("0001" + "62" + "0001" + "0001" + "6e" + "0001" + "76" + "09");
        assertThat(HexFormat.of().formatHex(JobRecord.encodeBody(null, Map.of(), new byte[] {9})))
                .isEqualTo("ffff" + "0000" + "09");
        assertThat(HexFormat.of().formatHex(JobRecord.digest("b", Map.of("n", "v"), new byte[] {9}, "+PT1S")))
                .as("repeated requests depend on it")
                .isEqualTo("2822b6d42117dad3");
    }

    @Test
    void shouldLeaveOtherVersionsAlone() {
        byte[] newer = record("", JobRecord.encodeBody(null, Map.of(), new byte[0]));
        newer[0] = 2;
        String member = ShardMap.memberOf("a");

        assertThat(JobRecord.readable(newer)).isFalse();
        assertThat(JobRecord.readable(new byte[] {1, 'P'})).as("cut").isFalse();
        assertThat(JobRecord.readable(new byte[0])).isFalse();
        assertThatThrownBy(() -> JobRecord.decode("orders", member, newer))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("job=a")
                .hasMessageContaining("version 2");
        assertThatThrownBy(() -> JobRecord.decode("orders", member, new byte[0]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("version none");
    }

    @Test
    void shouldKeepEveryByteOfADamagedBody() {
        byte[] body = JobRecord.encodeBody("business", Map.of("name", "value"), new byte[0]);
        for (int kept = 0; kept < body.length; kept++) {
            byte[] cut = java.util.Arrays.copyOf(body, kept);
            JobRecord.Decoded decoded = JobRecord.decode("orders", ShardMap.memberOf("a"), record("why", cut));
            assertThat(decoded.damage()).as("%d bytes of the body", kept).contains(kept + " bytes");
            assertThat(decoded.job().payload()).isEqualTo(cut);
            assertThat(decoded.job().businessId()).isNull();
            assertThat(decoded.job().headers()).isEmpty();
            assertThat(decoded.job().lastFailure()).isEqualTo("why");
        }
        assertThat(JobRecord.decode("orders", ShardMap.memberOf("a"), record("why", body))
                        .damage())
                .isNull();
    }

    @Test
    void shouldNotReadAHeaderWhoseReasonIsCut() {
        byte[] record = record("why", new byte[0]);

        assertThat(JobRecord.readable(record)).isTrue();
        assertThat(JobRecord.readable(java.util.Arrays.copyOf(record, 38))).isFalse();
        assertThat(JobRecord.readable(java.util.Arrays.copyOf(record, 35))).isFalse();
    }

    @Test
    void shouldTellRequestsApartByAllThatTheCallerGave() {
        byte[] payload = {1, 2};
        List<byte[]> different = List.of(
                JobRecord.digest(null, Map.of(), payload, "T1"),
                JobRecord.digest(null, Map.of(), payload, "T2"),
                JobRecord.digest(null, Map.of(), new byte[] {1, 3}, "T1"),
                JobRecord.digest(null, Map.of(), new byte[0], "T1"),
                JobRecord.digest("", Map.of(), payload, "T1"),
                JobRecord.digest("-", Map.of(), payload, "T1"),
                JobRecord.digest("b", Map.of(), payload, "T1"),
                JobRecord.digest(null, Map.of("a", "b"), payload, "T1"),
                JobRecord.digest(null, Map.of("b", "a"), payload, "T1"),
                JobRecord.digest(null, Map.of("ab", ""), payload, "T1"),
                JobRecord.digest(null, Map.of("", "ab"), payload, "T1"),
                JobRecord.digest(null, Map.of("a", "b", "c", "d"), payload, "T1"),
                JobRecord.digest(null, Map.of("a", "bcd"), payload, "T1"));
        Set<String> seen = new HashSet<>();
        different.forEach(digest -> {
            assertThat(digest).hasSize(JobRecord.DIGEST_BYTES);
            seen.add(HexFormat.of().formatHex(digest));
        });

        assertThat(seen).hasSize(different.size());
    }

    @Test
    void shouldCallTheSameRequestTheSameWhateverTheOrderOfItsHeaders() {
        Map<String, String> one = new LinkedHashMap<>();
        one.put("a", "1");
        one.put("b", "2");
        Map<String, String> other = new LinkedHashMap<>();
        other.put("b", "2");
        other.put("a", "1");

        assertThat(JobRecord.digest("x", one, new byte[] {1}, "T"))
                .isEqualTo(JobRecord.digest("x", other, new byte[] {1}, "T"));
    }

    @Test
    void shouldCutAReasonBetweenCharacters() {
        assertThat(JobRecord.reason("short")).asString().isEqualTo("short");
        assertThat(JobRecord.reason("x".repeat(512))).hasSize(512);
        assertThat(JobRecord.reason("x".repeat(513))).hasSize(512);
        for (int before = 0; before < 4; before++) {
            String text = "x".repeat(before) + "\ud83d\ude00".repeat(200);
            String cut = new String(JobRecord.reason(text), StandardCharsets.UTF_8);
            assertThat(text).startsWith(cut);
            assertThat(JobRecord.reason(text).length).isBetween(509, 512);
        }
    }

    private static Job decode(String reason, byte[] body) {
        byte[] record = record(reason, body);
        assertThat(JobRecord.digestOf(record)).isEqualTo(DIGEST);
        return JobRecord.decode("orders", ShardMap.memberOf("a"), record).job();
    }

    /** As lib/record.lua writes it. */
    private static byte[] record(String reason, byte[] body) {
        byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(36 + bytes.length + body.length)
                .put((byte) 1)
                .put((byte) 'I')
                .putShort((short) 65535)
                .putShort((short) 40000)
                .putInt(28_333_333)
                .putLong(1_700_000_000_001L)
                .putLong(1_600_000_000_002L)
                .put(DIGEST)
                .putShort((short) bytes.length)
                .put(bytes)
                .put(body)
                .array();
    }
}
