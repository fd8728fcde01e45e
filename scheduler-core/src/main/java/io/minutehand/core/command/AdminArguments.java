package io.minutehand.core.command;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a service that say where it tells how it is. */
public final class AdminArguments {
    private static final int HIGHEST_PORT = 65_535;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--admin-port",
            paramLabel = "PORT",
            description =
                    "Serves /healthz, /readyz and /metrics (Prometheus) there, without keys; 0 = any free one (default: none).")
    private @Nullable Integer port;

    @Option(
            names = "--admin-host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name or address for --admin-port to listen on (default ${DEFAULT-VALUE}).")
    private String host = "127.0.0.1";

    /** Filled by picocli, as a mixin. */
    public AdminArguments() {}

    /**
     * What was asked for; listens as soon as it is told what to serve.
     *
     * @throws ParameterException when there is no such port
     */
    public AdminService open() {
        if (port != null && (port < 0 || port > HIGHEST_PORT)) {
            throw new ParameterException(
                    spec.commandLine(), "--admin-port=" + port + ", allowed are 0 to " + HIGHEST_PORT);
        }
        return new AdminService(spec.commandLine().getOut(), host, port);
    }
}
