package io.minutehand.core.command;

import io.minutehand.core.service.OneLine;
import io.minutehand.core.store.RedisOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a command that say which Redis it works on, and under which prefix of keys. */
public final class RedisArguments {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            showDefaultValue = Visibility.NEVER,
            description =
                    "redis://[user:password@]host:port, or redis+cluster://..., redis+sentinel://..., rediss for TLS"
                            + " (environment MINUTEHAND_REDIS).")
    private @Nullable String redis;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            defaultValue = "mh",
            description = "Prefix of all keys (default ${DEFAULT-VALUE}).")
    private String namespace = "mh";

    /** Filled by picocli, as a mixin. */
    public RedisArguments() {}

    /**
     * What was given.
     *
     * @throws ParameterException when no Redis was named, or the options are refused
     */
    public RedisOptions options() {
        if (redis == null) {
            throw usage("Which Redis? Give --redis or set MINUTEHAND_REDIS.");
        }
        try {
            return RedisOptions.of(redis).withNamespace(namespace);
        } catch (IllegalArgumentException refused) {
            throw usage(OneLine.of(refused.getMessage()));
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
