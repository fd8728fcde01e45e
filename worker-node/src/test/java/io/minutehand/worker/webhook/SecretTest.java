package io.minutehand.worker.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretTest {
    /** The example that libraries for receivers are tested with. */
    @Test
    void shouldSignAsReceiversVerify() {
        Secret secret = Secret.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

        String signature = secret.sign(
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8));

        assertThat(signature).isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_!not-base-64!"})
    void shouldRefuseWhatIsNoSecret(String text) {
        assertThatThrownBy(() -> Secret.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("webhook secret")
                .hasMessageNotContainingAny("MfKQ9r8G", "c2hvcnQ", "!not");
    }

    @Test
    void shouldKeepItsKeyToItself() {
        String key = Base64.getEncoder().encodeToString(new byte[32]);
        assertThat(Secret.of("whsec_" + key)).asString().isEqualTo("Secret");
        assertThatThrownBy(() -> Secret.of("whsec_" + Base64.getEncoder().encodeToString(new byte[65])))
                .hasMessageContaining("65 bytes, allowed are 24 to 64");
    }
}
