package io.minutehand.core.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.function.BinaryOperator;

/**
 * The texts of the scripts, read once from the class path. A line {@code -- @include name} is replaced by {@code lib/name.lua}; comments go,
 * so that what Redis keeps (and a failed call by hash sends) is short. Immutable after construction.
 */
final class ScriptLibrary {
    private static final String ROOT = "/io/minutehand/lua/";
    private static final String INCLUDE = "-- @include ";

    private record Entry(String text, String sha) {}

    private final Map<Script, Entry> entries = new EnumMap<>(Script.class);

    ScriptLibrary() {
        this((name, text) -> text);
    }

    /**
     * A library whose files pass through {@code edit} (name, text) first: tests plant defects and replace the clock with it.
     *
     * @throws IllegalStateException when a file is missing
     */
    ScriptLibrary(BinaryOperator<String> edit) {
        for (Script script : Script.values()) {
            String text = assemble(script.scriptName(), edit);
            entries.put(script, new Entry(text, sha1(text)));
        }
    }

    /** The text that is sent when the server does not know the script. */
    String text(Script script) {
        return entry(script).text();
    }

    /** SHA-1 of the text in lower-case hexadecimal digits: what EVALSHA names. */
    String sha(Script script) {
        return entry(script).sha();
    }

    private Entry entry(Script script) {
        return Objects.requireNonNull(entries.get(script));
    }

    /** The file as it stands, comments and all. */
    static String source(String name) {
        String path = ROOT + name + ".lua";
        try (InputStream in = ScriptLibrary.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("script " + path + " is not on the class path");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read script " + path, e);
        }
    }

    private static String assemble(String name, BinaryOperator<String> edit) {
        StringBuilder text = new StringBuilder();
        for (String line : edit.apply(name, source(name)).split("\n", -1)) {
            if (line.startsWith(INCLUDE)) {
                String library = "lib/" + line.substring(INCLUDE.length()).trim();
                append(text, edit.apply(library, source(library)));
            } else {
                append(text, line);
            }
        }
        return text.toString();
    }

    private static void append(StringBuilder text, String lines) {
        for (String line : lines.split("\n", -1)) {
            if (!line.isBlank() && !line.stripLeading().startsWith("--")) {
                text.append(line).append('\n');
            }
        }
    }

    private static String sha1(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }
}
