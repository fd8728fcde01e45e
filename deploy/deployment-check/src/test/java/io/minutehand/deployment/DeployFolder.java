package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The folder {@code deploy}, or a copy of it in which a test has planted an error.
 *
 * @param root where it is
 */
record DeployFolder(Path root) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A file that is not there, or is not of its kind. */
    static final class UnreadableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final Problem problem;

        UnreadableException(Problem problem) {
            super(problem.toString());
            this.problem = problem;
        }

        Problem problem() {
            return problem;
        }
    }

    /** The real one: tests run in the folder of their module. */
    static DeployFolder real() {
        return new DeployFolder(Path.of("..").toAbsolutePath().normalize());
    }

    boolean has(String file) {
        return Files.isRegularFile(root.resolve(file));
    }

    String text(String file) {
        try {
            return Files.readString(root.resolve(file));
        } catch (IOException e) {
            throw new UnreadableException(new Problem(file, "file", "cannot be read: " + e));
        }
    }

    /** The only document of a file. */
    JsonNode yaml(String file) {
        List<JsonNode> documents = documents(file);
        if (documents.size() != 1) {
            throw new UnreadableException(
                    new Problem(file, "file", "has " + documents.size() + " documents, it should have one"));
        }
        return documents.get(0);
    }

    /** All documents of a file. Aliases and merges are resolved; a key that is there twice is refused. */
    List<JsonNode> documents(String file) {
        LoaderOptions strict = new LoaderOptions();
        strict.setAllowDuplicateKeys(false);
        List<JsonNode> documents = new ArrayList<>();
        try {
            for (Object document : new Yaml(new SafeConstructor(strict)).loadAll(text(file))) {
                documents.add(JSON.valueToTree(document));
            }
        } catch (YAMLException e) {
            throw new UnreadableException(new Problem(file, "file", "is not YAML: " + e.getMessage()));
        }
        return documents;
    }

    JsonNode json(String file) {
        try {
            return JSON.readTree(text(file));
        } catch (IOException e) {
            throw new UnreadableException(new Problem(file, "file", "is not JSON: " + e.getMessage()));
        }
    }

    /** The files right in a folder whose names end so, in order of their names. */
    List<String> files(String folder, String ending) {
        try (Stream<Path> files = Files.list(root.resolve(folder))) {
            return files.filter(Files::isRegularFile)
                    .map(file -> root.relativize(file).toString())
                    .filter(file -> file.endsWith(ending))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The folders right in a folder. */
    List<String> folders(String folder) {
        try (Stream<Path> files = Files.list(root.resolve(folder))) {
            return files.filter(Files::isDirectory)
                    .map(file -> root.relativize(file).toString())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
