package io.minutehand.postgres;

import io.minutehand.source.SourceChooser;
import io.minutehand.source.SourceKind;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses where PostgreSQL comes from, and says so in the log. The order is: an explicit address; for tests, Docker
 * through Testcontainers; the installed programs; the embedded ones.
 *
 * <p>{@code MINUTEHAND_TEST_POSTGRES} gives tests the address, a JDBC URL; {@code MINUTEHAND_POSTGRES_SOURCE} forces a
 * source by its label. Both can also be system properties ({@code minutehand.test.postgres},
 * {@code minutehand.postgres.source}), which win over the environment.
 */
public final class PostgresSource {

    /** Environment variable with the JDBC URL of a PostgreSQL for tests that runs already. */
    public static final String ADDRESS_VARIABLE = "MINUTEHAND_TEST_POSTGRES";

    /** System property with the JDBC URL of a PostgreSQL for tests that runs already. */
    public static final String ADDRESS_PROPERTY = "minutehand.test.postgres";

    /** Environment variable that forces a source: {@code address}, {@code docker}, {@code path} or {@code embedded}. */
    public static final String SOURCE_VARIABLE = "MINUTEHAND_POSTGRES_SOURCE";

    /** System property that forces a source. */
    public static final String SOURCE_PROPERTY = "minutehand.postgres.source";

    static final SourceChooser.Names NAMES =
            new SourceChooser.Names("PostgreSQL", ADDRESS_VARIABLE, ADDRESS_PROPERTY, SOURCE_VARIABLE, SOURCE_PROPERTY);

    static final String IMAGE = "postgres:15-alpine";

    private static final Logger LOG = LoggerFactory.getLogger(PostgresSource.class);

    private final SourceChooser.Choice<PostgresBinary> choice;
    private final boolean durable;
    private final String description;

    PostgresSource(SourceChooser.Choice<PostgresBinary> choice, boolean durable) {
        this.choice = choice;
        this.durable = durable;
        PostgresBinary binary = choice.programs();
        String address = choice.address();
        if (binary != null) {
            this.description = binary.describe();
        } else if (address != null) {
            this.description = "server at " + Jdbc.place(address);
        } else {
            this.description = "container of " + IMAGE;
        }
    }

    static SourceChooser<PostgresBinary> chooser() {
        return SourceChooser.ofThisProcess(
                NAMES, PostgresBinary::installed, PostgresBinary.missingInstallation(), PostgresBinary::embedded);
    }

    /**
     * Chooses for a demo: address, else installed, else embedded. What is started here keeps what it committed, as it is
     * set up by default.
     *
     * @param address a JDBC URL, or null
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static PostgresSource forDemo(@Nullable String address) {
        return chosen(
                // The address in the environment is for tests: a demo must not find it by accident.
                chooser().withoutAddress().choose(address, false), /* durable= */ true);
    }

    /**
     * Chooses for tests: address from the environment, else Docker, else installed, else embedded. What is started here
     * does not wait for the disk.
     *
     * @throws IllegalStateException    if the forced source is not available, or if there is none
     * @throws IllegalArgumentException if the address or the forced label is malformed
     */
    public static PostgresSource forTests() {
        return chosen(chooser().choose(null, true), /* durable= */ false);
    }

    private static PostgresSource chosen(SourceChooser.Choice<PostgresBinary> choice, boolean durable) {
        PostgresSource source = new PostgresSource(choice, durable);
        LOG.info("postgres: chose source={} {}", source.kind().label(), source.description);
        return source;
    }

    /** Which source was chosen. */
    public SourceKind kind() {
        return choice.kind();
    }

    /** One line for people: what was chosen, without credentials. */
    public String describe() {
        return description;
    }

    /**
     * Starts or reaches the server.
     *
     * @throws IllegalStateException if it does not start, if nothing answers at the address, or if it is older than 12
     */
    public PostgresInstance open() {
        PostgresBinary binary = choice.programs();
        String address = choice.address();
        if (binary != null) {
            return PostgresServer.start(binary, durable);
        }
        if (address != null) {
            return ExternalPostgres.reach(address);
        }
        return DockerPostgres.start();
    }
}
