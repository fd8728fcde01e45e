package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code router new-key}: makes a key, adds its hash to a file and prints the key, this once. */
@Command(
        name = "new-key",
        description = {
            "Makes an API key: adds its hash to the file and prints the key, which is kept nowhere else.",
            "To replace a key: make another with the same id, give it to its user, and take the old entry out of the file."
        },
        mixinStandardHelpOptions = true)
final class NewKeyCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(names = "--keys", required = true, paramLabel = "FILE", description = "The file; made if there is none.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private Path file;

    @Option(names = "--id", required = true, paramLabel = "ID", description = "Whose key it is: [a-z0-9-]{1,32}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private String id;

    @Option(
            names = "--scope",
            required = true,
            split = ",",
            paramLabel = "RIGHT:TOPICS",
            description = "produce, read or admin, and a topic, the beginning of topics with *, or *.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private List<String> scopes;

    @Option(names = "--rate", paramLabel = "N", description = "Jobs and calls a second at most.")
    private @Nullable Integer rate;

    @Override
    public Integer call() {
        try {
            ApiKeys.Fresh fresh = ApiKeys.fresh(id, scopes, rate);
            ObjectNode document =
                    Files.exists(file) ? Json.object(Files.readAllBytes(file)) : Json.MAPPER.createObjectNode();
            if (!document.path("keys").isMissingNode() && !document.path("keys").isArray()) {
                throw new IllegalArgumentException("key file " + file + ": \"keys\" is not an array");
            }
            document.withArray("keys").add(fresh.entry());
            ApiKeys.requireReadable(document);
            write(document);
            spec.commandLine().getOut().println(fresh.key());
            return ExitCode.OK;
        } catch (IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), String.valueOf(refused.getMessage()));
        } catch (IOException | Problem failed) {
            spec.commandLine()
                    .getErr()
                    .println("key file " + file + ": "
                            + (failed instanceof NoSuchFileException
                                    ? "there is no such directory"
                                    : failed.getMessage()));
            return ExitCode.SOFTWARE;
        }
    }

    /** Whoever reads the file meanwhile sees it as it was, or as it will be. */
    private void write(ObjectNode document) throws IOException {
        Path whole = file.toAbsolutePath();
        Path part = Files.createTempFile(whole.getParent(), ".keys", ".part");
        try {
            if (Files.getFileStore(part).supportsFileAttributeView("posix")) {
                Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rw-------"));
            }
            Files.write(part, Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(document));
            Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(part);
        }
    }
}
