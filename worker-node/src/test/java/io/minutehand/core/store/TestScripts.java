package io.minutehand.core.store;

import java.util.Arrays;
import java.util.function.BinaryOperator;

/** Opens for tests of other packages what the store keeps to itself about its scripts. */
public final class TestScripts {
    private TestScripts() {}

    /** The hash by which a script is called: it tells a proxy which call passes. */
    public static String sha(String script) {
        Script found = Arrays.stream(Script.values())
                .filter(candidate -> candidate.scriptName().equals(script))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no script " + script));
        return new ScriptLibrary().sha(found);
    }

    /** A connection whose scripts pass through {@code edit} (name, text) first. */
    public static StoreConnection open(RedisOptions options, BinaryOperator<String> edit) {
        return StoreConnection.open(options, edit);
    }
}
