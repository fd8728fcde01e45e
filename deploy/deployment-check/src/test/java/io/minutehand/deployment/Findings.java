package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** Collects what is wrong with one file. */
final class Findings {
    private static final Pattern PINNED = Pattern.compile("[a-z0-9./_-]+:v?[0-9]+\\.[0-9]+\\.[0-9]+[A-Za-z0-9._-]*");

    private final String file;
    private final List<Problem> problems = new ArrayList<>();

    Findings(String file) {
        this.file = file;
    }

    /** Looks at a file; that it cannot be read is what is found then. */
    static List<Problem> of(String file, Consumer<Findings> look) {
        Findings findings = new Findings(file);
        try {
            look.accept(findings);
        } catch (DeployFolder.UnreadableException unreadable) {
            findings.problems.add(unreadable.problem());
        }
        return findings.problems;
    }

    void add(String where, String what, Object... values) {
        problems.add(new Problem(file, where, String.format(Locale.ROOT, what, values)));
    }

    void require(boolean holds, String where, String what, Object... values) {
        if (!holds) {
            add(where, what, values);
        }
    }

    /** That it has the form of its kind. */
    void requireSchema(Schemas schema, JsonNode document) {
        schema.errors(document).forEach(problem -> add(problem.where(), "%s", problem.what()));
    }

    /** That an image is the same tomorrow. */
    void requirePinned(String where, String image) {
        require(
                PINNED.matcher(image).matches(),
                where,
                "image %s is not pinned to a version: give it three numbers",
                image);
    }
}
