package io.minutehand.loadtest.lab;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobPayloadTest {
    @ParameterizedTest
    @CsvSource({"0,false", "0,true", "1,true", "49999999,false"})
    void shouldComeBackAsItWas(long number, boolean warmup) {
        JobPayload job = new JobPayload(number, warmup, 1_796_000_000_123_000L);

        assertThat(JobPayload.of(job.bytes(100))).isEqualTo(job);
        assertThat(JobPayload.of(job.bytes(JobPayload.LEAST_BYTES))).isEqualTo(job);
        assertThat(job.id()).hasSize(20);
    }
}
