package io.minutehand.worker.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A key that signs webhooks, as Standard Webhooks 1.0.0 has it: HMAC-SHA256 over {@code id.timestamp.body}. Immutable. */
public final class Secret {
    private static final String PREFIX = "whsec_";
    private static final String ALGORITHM = "HmacSHA256";
    private static final int LEAST_BYTES = 24;
    private static final int MOST_BYTES = 64;

    private final SecretKeySpec key;

    private Secret(byte[] bytes) {
        this.key = new SecretKeySpec(bytes, ALGORITHM);
    }

    /**
     * Reads {@code whsec_} and the Base64 of 24 to 64 random bytes.
     *
     * @throws IllegalArgumentException that says what is wrong, without the text
     */
    public static Secret of(String text) {
        if (!text.startsWith(PREFIX)) {
            throw new IllegalArgumentException(
                    "a webhook secret begins with whsec_; make one with: echo \"whsec_$(openssl rand -base64 32)\"");
        }
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(text.substring(PREFIX.length()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("a webhook secret is whsec_ and Base64; this one is not Base64", e);
        }
        if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "a webhook secret of " + bytes.length + " bytes, allowed are " + LEAST_BYTES + " to " + MOST_BYTES);
        }
        return new Secret(bytes);
    }

    /** The signature of a message, {@code v1,<Base64>}. */
    String sign(String id, long timestampS, byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update((id + "." + timestampS + ".").getBytes(StandardCharsets.UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    /** Nothing of the key. */
    @Override
    public String toString() {
        return "Secret";
    }
}
