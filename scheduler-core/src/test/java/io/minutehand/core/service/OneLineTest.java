package io.minutehand.core.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.job.Limits;
import org.junit.jupiter.api.Test;

class OneLineTest {
    @Test
    void shouldKeepTextOnOneLine() {
        assertThat(OneLine.of("a\r\nINFO forged\u0085b\u2028c\u2029d\u001b[31m\te\u202ef"))
                .isEqualTo("a  INFO forged b c d [31m e f");
        assertThat(OneLine.of((String) null)).isEqualTo("null");
    }

    @Test
    void shouldCutLongText() {
        assertThat(OneLine.of("x".repeat(3_000_000))).hasSize(Limits.REASON_BYTES);
    }

    @Test
    void shouldNameTheFailure() {
        assertThat(OneLine.of(new IllegalStateException("no\nmoney"))).isEqualTo("IllegalStateException: no money");
        assertThat(OneLine.of(new NullPointerException())).isEqualTo("NullPointerException");
        assertThat(OneLine.of(new RuntimeException("anonymous") {}))
                .startsWith("OneLineTest$")
                .endsWith("anonymous");
    }

    @Test
    void shouldNotTrustTheMessageOfAStranger() {
        Throwable hostile = new RuntimeException() {
            @Override
            public String getMessage() {
                throw new StackOverflowError();
            }
        };
        assertThat(OneLine.of(hostile)).contains("its message cannot be read").contains("StackOverflowError");
    }
}
