package io.minutehand.router.admin;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.command.RedisArguments;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.topic.StoredTopic;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that every admin command has, and the run of one: connected, its failures told in a line, its exit status. */
final class AdminOptions {
    /** Exit status of what went well and found nothing. */
    static final int FINE = ExitCode.OK;

    /** Exit status of findings, refusals and failures. */
    static final int AMISS = 1;

    /** How long a call on Redis is repeated while it fails in passing. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Mixin
    private RedisArguments redis = new RedisArguments();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** What a command does once it is connected. */
    interface Work {
        /** Returns the exit status. */
        int on(StoreConnection connection, Admin admin, Printer printer);
    }

    /** Runs a command; says in one line what failed. */
    int run(Work work) {
        PrintWriter err = spec.commandLine().getErr();
        // Whoever looks at a server that endangers jobs, or mends what it lost, must not be kept from it.
        RedisOptions options = redis.options().withRisksAccepted();
        try {
            Printer printer = new Printer(spec.commandLine().getOut(), json);
            try (StoreConnection connection = StoreConnection.open(options)) {
                int status = work.on(connection, new Admin(connection, PATIENCE), printer);
                printer.flush();
                return status;
            }
        } catch (IllegalArgumentException refused) {
            throw usage(Printer.shown(String.valueOf(refused.getMessage())));
        } catch (Refusal refusal) {
            err.println(Printer.shown(String.valueOf(refusal.getMessage())));
        } catch (StoreException failed) {
            err.println(Printer.shown("Redis: " + failed.getMessage()));
        }
        return AMISS;
    }

    ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** The settings of a topic. */
    static StoredTopic topic(Admin admin, String name) {
        Optional<StoredTopic> topic = admin.topic(TopicName.require(name));
        return topic.orElseThrow(
                () -> new Refusal(
                        "topic " + name
                                + " is not declared: nobody has used it in this namespace, or Redis came back empty and its counters start anew"));
    }

    /** Why a command does not do what it was asked for. */
    static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Refusal(String message) {
            super(message);
        }
    }
}
