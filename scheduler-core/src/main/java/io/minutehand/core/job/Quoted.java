package io.minutehand.core.job;

/** Text of a stranger inside a message of ours: cut to 80 characters, in double quotes; those inside and whatever is not plain ASCII are escaped. */
final class Quoted {
    private static final int CHARS = 80;

    private Quoted() {}

    static String of(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < Math.min(text.length(), CHARS); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append(text.length() > CHARS ? "...\"" : "\"").toString();
    }
}
