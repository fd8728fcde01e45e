package io.minutehand.source;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses where a server of one product comes from. The order is: an explicit address; for tests, Docker through Testcontainers; the installed
 * programs; the embedded ones. A setting can force one of them.
 *
 * @param names what messages and settings call the product
 * @param surroundings what the choice looks at
 * @param <P> the programs of the product that can be started here
 */
public record SourceChooser<P>(Names names, Surroundings<P> surroundings) {

    /**
     * What messages and settings call a product. Properties of the system win over the environment's variables.
     *
     * @param product for people
     * @param addressVariable environment variable with the address of a server that runs already
     * @param addressProperty system property with the same
     * @param sourceVariable environment variable that forces a kind by its label
     * @param sourceProperty system property with the same
     */
    public record Names(
            String product,
            String addressVariable,
            String addressProperty,
            String sourceVariable,
            String sourceProperty) {}

    /**
     * What the choice looks at; tests replace it.
     *
     * @param address of a server that runs already, or null
     * @param forced label of the forced kind, or null
     * @param docker whether a container can be started
     * @param installed the programs of this machine
     * @param missing what to say when there are none
     * @param embedded the programs of a jar
     */
    public record Surroundings<P>(
            @Nullable String address,
            @Nullable String forced,
            BooleanSupplier docker,
            Supplier<Optional<P>> installed,
            String missing,
            Supplier<P> embedded) {

        /** The same without the address. */
        public Surroundings<P> withoutAddress() {
            return new Surroundings<>(null, forced, docker, installed, missing, embedded);
        }
    }

    /**
     * What was chosen.
     *
     * @param address for {@link SourceKind#ADDRESS}, else null
     * @param programs for {@link SourceKind#PATH} and {@link SourceKind#EMBEDDED}, else null
     */
    public record Choice<P>(
            SourceKind kind,
            @Nullable String address,
            @Nullable P programs) {}

    /** A chooser that looks at this process, its settings and its machine. */
    public static <P> SourceChooser<P> ofThisProcess(
            Names names, Supplier<Optional<P>> installed, String missing, Supplier<P> embedded) {
        return new SourceChooser<>(
                names,
                new Surroundings<>(
                        setting(names.addressProperty(), names.addressVariable()),
                        setting(names.sourceProperty(), names.sourceVariable()),
                        DockerProbe::isAvailable,
                        installed,
                        missing,
                        embedded));
    }

    /** The same, blind to the address that the environment gives. */
    public SourceChooser<P> withoutAddress() {
        return new SourceChooser<>(names, surroundings.withoutAddress());
    }

    /**
     * Chooses.
     *
     * @param argument an address that wins over the environment's, or null
     * @param dockerAllowed whether a container may be chosen without being forced
     * @throws IllegalStateException if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the forced label is malformed
     */
    public Choice<P> choose(@Nullable String argument, boolean dockerAllowed) {
        String address = argument != null ? argument : surroundings.address();
        SourceKind forced = forced();
        if (forced != null) {
            if (argument != null && forced != SourceKind.ADDRESS) {
                throw new IllegalStateException(
                        "An address was given, but " + setting(forced) + "; drop one of the two");
            }
            return forced(forced, address);
        }
        if (address != null) {
            return new Choice<>(SourceKind.ADDRESS, address, null);
        }
        if (dockerAllowed && surroundings.docker().getAsBoolean()) {
            return new Choice<>(SourceKind.DOCKER, null, null);
        }
        return surroundings
                .installed()
                .get()
                .map(programs -> new Choice<>(SourceKind.PATH, null, programs))
                .orElseGet(this::embedded);
    }

    /**
     * The programs that server processes of this JVM use: the installed ones, else the embedded ones. A setting of {@code path} or
     * {@code embedded} decides; {@code address} and {@code docker} do not matter here, because neither offers a process that can be killed, stopped
     * and started again.
     *
     * @throws IllegalStateException if the forced ones are not available, or if there are none
     * @throws IllegalArgumentException if the forced label is malformed
     */
    public P programs() {
        SourceKind forced = forced();
        if (forced == SourceKind.PATH) {
            return installed();
        }
        if (forced == SourceKind.EMBEDDED) {
            return surroundings.embedded().get();
        }
        return surroundings.installed().get().orElseGet(surroundings.embedded());
    }

    private Choice<P> forced(SourceKind kind, @Nullable String address) {
        return switch (kind) {
            case ADDRESS -> {
                if (address == null) {
                    throw new IllegalStateException(setting(kind) + ", but no address of " + names.product()
                            + " is given, neither as an option nor by " + names.addressVariable());
                }
                yield new Choice<>(kind, address, null);
            }
            case DOCKER -> {
                if (!surroundings.docker().getAsBoolean()) {
                    throw new IllegalStateException(
                            setting(kind) + ", but Testcontainers is not on the class path or finds no Docker engine");
                }
                yield new Choice<>(kind, null, null);
            }
            case PATH -> new Choice<>(kind, null, installed());
            case EMBEDDED -> embedded();
        };
    }

    private P installed() {
        return surroundings
                .installed()
                .get()
                .orElseThrow(
                        () -> new IllegalStateException(setting(SourceKind.PATH) + ", but " + surroundings.missing()));
    }

    private Choice<P> embedded() {
        return new Choice<>(SourceKind.EMBEDDED, null, surroundings.embedded().get());
    }

    private @Nullable SourceKind forced() {
        String label = surroundings.forced();
        return label == null ? null : SourceKind.ofLabel(label, names);
    }

    private String setting(SourceKind kind) {
        return names.sourceVariable() + "=" + kind.label();
    }

    /** A setting from the system properties, else from the environment; null if neither has it or it is empty. */
    private static @Nullable String setting(String property, String variable) {
        String value = System.getProperty(property, System.getenv(variable));
        return value == null || value.isBlank() ? null : value.trim();
    }
}
