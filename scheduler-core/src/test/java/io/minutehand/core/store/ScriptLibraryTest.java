package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScriptLibraryTest {
    private final ScriptLibrary library = new ScriptLibrary();

    @ParameterizedTest
    @EnumSource(Script.class)
    void shouldSendTheFirstLineTheLibrariesAndTheBodyWithoutComments(Script script) throws Exception {
        String text = library.text(script);

        assertThat(text).startsWith("#!lua").doesNotContain("@include", "\n--", "\n\n");
        assertThat(library.sha(script))
                .isEqualTo(HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8))));
    }

    @Test
    void shouldGiveEachScriptAHashOfItsOwn() {
        assertThat(Arrays.stream(Script.values()).map(library::sha)).doesNotHaveDuplicates();
    }

    @Test
    void shouldPutALibraryWhereItIsIncluded() {
        assertThat(library.text(Script.FIND).lines().toList())
                .startsWith("#!lua flags=no-writes,allow-oom", "local function clock()")
                .contains("local hash, ended, ledger = KEYS[1], KEYS[2], KEYS[3]");
    }

    @Test
    void shouldPassEachFileThroughTheEdit() {
        List<String> names = new ArrayList<>();
        ScriptLibrary edited = new ScriptLibrary((name, text) -> {
            names.add(name);
            return name.equals("lib/clock") ? "-- nothing\nlocal function clock() return 1, 1 end" : text;
        });

        assertThat(names)
                .contains("pop", "lib/clock", "lib/handout")
                .containsAll(
                        Arrays.stream(Script.values()).map(Script::scriptName).toList());
        assertThat(edited.text(Script.FIND))
                .contains("local function clock() return 1, 1 end")
                .doesNotContain("TIME");
        assertThat(edited.sha(Script.FIND)).isNotEqualTo(library.sha(Script.FIND));
        assertThat(edited.sha(Script.TOPICS)).as("it includes nothing").isEqualTo(library.sha(Script.TOPICS));
    }

    @Test
    void shouldNameAFileThatIsMissing() {
        assertThatThrownBy(() -> ScriptLibrary.source("nothing"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/io/minutehand/lua/nothing.lua");
    }
}
