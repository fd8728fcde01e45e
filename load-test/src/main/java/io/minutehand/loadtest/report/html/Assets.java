package io.minutehand.loadtest.report.html;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The files that a page is made of, from the class path. */
final class Assets {
    private Assets() {}

    /**
     * The text of a file.
     *
     * @throws IllegalStateException when it is not on the class path
     */
    static String text(String name) {
        return new String(bytes(name), StandardCharsets.UTF_8);
    }

    static byte[] bytes(String name) {
        try (InputStream in = Assets.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(
                        "file " + name + " of package " + Assets.class.getPackageName() + " is not on the class path");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read file " + name + " of the report", e);
        }
    }

    /** How a Content-Security-Policy names an inline script or style: by its content alone. */
    static String sourceHash(String content) {
        byte[] digest = sha256(content.getBytes(StandardCharsets.UTF_8));
        return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
