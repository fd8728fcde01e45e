package io.minutehand.worker.service;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The {@code worker new-secret} command. */
@Command(
        name = "new-secret",
        description = "Prints a new secret for signing webhooks: a line for the file of --webhook-secrets.",
        mixinStandardHelpOptions = true)
final class NewSecretCommand implements Callable<Integer> {
    private static final int BYTES = 32;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Override
    public Integer call() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        spec.commandLine().getOut().println("whsec_" + Base64.getEncoder().encodeToString(bytes));
        spec.commandLine().getOut().flush();
        return 0;
    }
}
