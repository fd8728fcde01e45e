package io.minutehand.source;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where a server comes from. The {@link #label()} is what settings, logs and reports call it. */
public enum SourceKind {
    /** A server that runs already and that nobody here started. */
    ADDRESS,
    /** A container that Testcontainers starts. */
    DOCKER,
    /** A process of the programs that are installed on this machine. */
    PATH,
    /** A process of the programs that a jar carries. For tests and demos only. */
    EMBEDDED;

    /** The name in settings and reports: {@code address}, {@code docker}, {@code path} or {@code embedded}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The kind with this label, of a setting of a product.
     *
     * @throws IllegalArgumentException if there is none; the message lists the labels
     */
    static SourceKind ofLabel(String label, SourceChooser.Names names) {
        for (SourceKind kind : values()) {
            if (kind.label().equals(label)) {
                return kind;
            }
        }
        throw new IllegalArgumentException(names.sourceVariable() + "=" + label + " is not a source of "
                + names.product() + "; use one of "
                + Arrays.stream(values()).map(SourceKind::label).collect(Collectors.joining(", ")));
    }
}
