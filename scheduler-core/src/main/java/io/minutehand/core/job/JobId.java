package io.minutehand.core.job;

import java.util.Objects;
import java.util.UUID;

/** The rule of job ids: {@code [A-Za-z0-9._:@+=-]{1,128}}; an id is unique within its topic. Stateless. */
public final class JobId {
    private JobId() {}

    /**
     * Returns the id if it is one.
     *
     * @throws IllegalArgumentException when it is empty, longer than {@link Limits#ID_CHARS}, or holds another character
     */
    public static String require(String id) {
        Objects.requireNonNull(id, "id");
        if (id.isEmpty() || id.length() > Limits.ID_CHARS) {
            throw new IllegalArgumentException("job id has " + id.length() + " characters, allowed are 1 to "
                    + Limits.ID_CHARS + ": " + Quoted.of(id));
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            if (!isPlain(c) && "._:@+=-".indexOf(c) < 0) {
                throw new IllegalArgumentException("job id " + Quoted.of(id) + " holds " + Quoted.of(String.valueOf(c))
                        + " at position " + i + ", allowed are A-Z a-z 0-9 . _ : @ + = -");
            }
        }
        return id;
    }

    /** Makes an id that no other call makes: 32 hexadecimal digits, 122 of its bits random. */
    public static String random() {
        UUID uuid = UUID.randomUUID();
        StringBuilder digits = new StringBuilder(32);
        appendHex(digits, uuid.getMostSignificantBits());
        appendHex(digits, uuid.getLeastSignificantBits());
        return digits.toString();
    }

    private static void appendHex(StringBuilder digits, long bits) {
        for (int shift = 60; shift >= 0; shift -= 4) {
            digits.append(Character.forDigit((int) (bits >>> shift) & 0xf, 16));
        }
    }

    static boolean isPlain(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
}
