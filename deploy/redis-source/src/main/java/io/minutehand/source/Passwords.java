package io.minutehand.source;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Passwords for servers that are started here. */
public final class Passwords {
    private static final int BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    private Passwords() {}

    /** A fresh one: 32 hexadecimal digits. */
    public static String random() {
        byte[] bytes = new byte[BYTES];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
