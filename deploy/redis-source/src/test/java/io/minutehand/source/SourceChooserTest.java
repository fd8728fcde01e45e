package io.minutehand.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.source.SourceChooser.Choice;
import io.minutehand.source.SourceChooser.Names;
import io.minutehand.source.SourceChooser.Surroundings;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SourceChooserTest {

    private static final String INSTALLED = "the installed one";
    private static final String EMBEDDED = "the embedded one";
    private static final String ADDRESS = "tcp://somewhere:7000";
    private static final Names NAMES =
            new Names("Server", "TEST_SERVER", "test.server", "TEST_SERVER_SOURCE", "test.server.source");

    /** Everything is there; each row takes the first source of the order away. */
    @ParameterizedTest
    @CsvSource({
        "true,  true,  true,  true,  address",
        "false, true,  true,  true,  docker",
        "false, true,  false, true,  path",
        "false, true,  false, false, embedded",
        "true,  false, true,  true,  address",
        "false, false, true,  true,  path",
        "false, false, true,  false, embedded",
    })
    void shouldTakeTheFirstThatIsThere(
            boolean address, boolean dockerAllowed, boolean docker, boolean installed, String expected) {
        Choice<String> choice =
                chooser(address ? ADDRESS : null, null, docker, installed).choose(null, dockerAllowed);
        requireChoice(choice, expected);
    }

    @ParameterizedTest
    @CsvSource({"address", "docker", "path", "embedded"})
    void shouldObeyTheForcedSource(String label) {
        requireChoice(chooser(ADDRESS, label, true, true).choose(null, false), label);
    }

    private static void requireChoice(Choice<String> choice, String label) {
        assertThat(choice.kind().label()).isEqualTo(label);
        assertThat(choice.address()).isEqualTo(label.equals("address") ? ADDRESS : null);
        assertThat(choice.programs())
                .isEqualTo(
                        switch (label) {
                            case "path" -> INSTALLED;
                            case "embedded" -> EMBEDDED;
                            default -> null;
                        });
    }

    @ParameterizedTest
    @CsvSource({"address, TEST_SERVER", "docker, Docker engine", "path, no server here"})
    void shouldFailWhenTheForcedSourceIsNotThere(String label, String expected) {
        assertThatThrownBy(() -> chooser(null, label, false, false).choose(null, true))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TEST_SERVER_SOURCE=" + label)
                .hasMessageContaining(expected);
    }

    @Test
    void shouldRefuseAnUnknownLabel() {
        assertThatThrownBy(() -> chooser(null, "apt", true, true).choose(null, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("TEST_SERVER_SOURCE=apt")
                .hasMessageContaining("address, docker, path, embedded");
    }

    @Test
    void shouldPreferTheArgumentToTheEnvironment() {
        Choice<String> choice = chooser(ADDRESS, null, true, true).choose("tcp://given:1", false);
        assertThat(choice.kind()).isEqualTo(SourceKind.ADDRESS);
        assertThat(choice.address()).isEqualTo("tcp://given:1");
    }

    @Test
    void shouldRefuseAnArgumentAgainstAForcedSource() {
        assertThatThrownBy(() -> chooser(null, "embedded", true, true).choose("tcp://given:1", false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TEST_SERVER_SOURCE=embedded");
    }

    @Test
    void shouldForgetTheAddressOfTheEnvironment() {
        Choice<String> choice =
                chooser(ADDRESS, null, true, true).withoutAddress().choose(null, false);
        assertThat(choice.kind()).isEqualTo(SourceKind.PATH);
    }

    /** Processes are made of programs alone: an address or a container does not change which. */
    @ParameterizedTest
    @CsvSource({
        ",         true,  the installed one",
        ",         false, the embedded one",
        "path,     true,  the installed one",
        "embedded, true,  the embedded one",
        "address,  true,  the installed one",
        "docker,   false, the embedded one",
    })
    void shouldFindProgramsForProcesses(@Nullable String forced, boolean installed, String expected) {
        assertThat(chooser(ADDRESS, forced, true, installed).programs()).isEqualTo(expected);
    }

    @Test
    void shouldFailWhenForcedProgramsAreNotThere() {
        assertThatThrownBy(() -> chooser(null, "path", true, false).programs())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TEST_SERVER_SOURCE=path, but there is no server here");
    }

    private static SourceChooser<String> chooser(
            @Nullable String address, @Nullable String forced, boolean docker, boolean installed) {
        return new SourceChooser<>(
                NAMES,
                new Surroundings<>(
                        address,
                        forced,
                        () -> docker,
                        () -> installed ? Optional.of(INSTALLED) : Optional.empty(),
                        "there is no server here",
                        () -> EMBEDDED));
    }
}
