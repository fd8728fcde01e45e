package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class ScriptContractTest {
    @Test
    void shouldHaveAFileForEachConstantAndAConstantForEachFile() throws Exception {
        List<String> constants =
                Arrays.stream(Script.values()).map(Script::scriptName).sorted().toList();

        assertThat(names(root())).isEqualTo(constants);
    }

    @ParameterizedTest
    @EnumSource(Script.class)
    void shouldDoWhatItsHeaderPromises(Script script) {
        assertThat(ScriptContract.violations(script.scriptName(), ScriptLibrary.source(script.scriptName())))
                .isEmpty();
    }

    static List<String> libraries() throws Exception {
        return names(root().resolve("lib"));
    }

    @ParameterizedTest
    @MethodSource("libraries")
    void shouldKeepTheRulesInLibraries(String library) {
        assertThat(ScriptContract.libraryViolations(library, ScriptLibrary.source("lib/" + library)))
                .isEmpty();
    }

    @Test
    void shouldHaveAConstantForEachStatusThatTheStoreDecodes() {
        assertThat(promised(Script.SCHEDULE))
                .isEqualTo(names(ScheduleOutcome.Status.values(), ScheduleOutcome.ItemStatus.values()));
        assertThat(promised(Script.POP)).isEqualTo(names(Handout.Status.values()));
        assertThat(names(Handout.Status.values())).containsAll(promised(Script.RECOVER));
        Set<String> moves = promised(Script.CANCEL);
        moves.addAll(promised(Script.RESCHEDULE));
        moves.remove("ELSEWHERE");
        assertThat(moves).isEqualTo(names(MoveOutcome.Status.values()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "cancel  | -- Cost:             | -- Price:            | header has the sections",
                "cancel  | -- Transition:       | -- Replay:           | header has the sections",
                "cancel  | -- cancel:           | -- abort:            | header does not begin with",
                "cancel  | RUNNING              | IN_FLIGHT            | header promises",
                "pop     | return { 'OLD'       | return { 'STALE'     | body returns",
                "ack     | or STALE (           | or LATE (            | header promises",
                "cancel  | 1 bucket             | 1 from               | KEYS[1] is not bound to a local from",
                "cancel  | KEYS[3], KEYS[4]     | KEYS[4], KEYS[3]     | KEYS[3] is not bound to a local ledger",
                "pop     | ledger, records =    | ledger, recs =       | KEYS[7] is not bound to a local records",
                "cancel  | 3 retentionMs        | 4 retentionMs        | has index 4, expected 3",
                "cancel  | if retentionMs > 0   | if true              | ARGV retentionMs is bound but not used",
                "retry   | ARGV[6]              | ARGV[7]              | ARGV[7] is used but not in the header",
                "ack     | #ARGV, 2             | #ARGV, 3             | no loop over ARGV from 3",
                "ack     | lua flags=allow-oom  | lua                  | flag allow-oom",
                "find    | no-writes,           | \"\"                 | flag no-writes",
                "cancel  | 'HDEL', hash         | 'HDEL', 'x:' .. hash | a key that is made in Lua",
                "cancel  | 'HDEL', hash, member | 'KEYS', hash         | calls KEYS, which is not among",
                "cancel  | 'HDEL', hash, member | 'SCAN', hash         | calls SCAN, which is not among",
                "cancel  | = clock()            | = redis.call('TIME') | reads the time, which only lib/clock may",
                "look    | @include wake        | @include receipt     | uses nothing of it",
                "cancel  | if state == 'I'      | redis.call('HDEL', hash, member) if state == 'I' | after a write",
            })
    void shouldNoticeWhenHeaderAndBodyPart(String script, String planted, String instead, String complaint) {
        String text = ScriptLibrary.source(script);
        assertThat(text).contains(planted);

        int at = text.indexOf(planted);
        String wrong = text.substring(0, at) + instead + text.substring(at + planted.length());
        assertThat(ScriptContract.violations(script, wrong)).anyMatch(violation -> violation.contains(complaint));
    }

    @Test
    void shouldNoticeAFileThatGrowsTooLong() {
        assertThat(ScriptContract.violations("find", ScriptLibrary.source("find") + "\n".repeat(ScriptContract.LINES)))
                .anyMatch(violation -> violation.contains("allowed are " + ScriptContract.LINES));
    }

    @Test
    void shouldNoticeALibraryThatIncludesAnother() {
        assertThat(ScriptContract.libraryViolations("wake", "-- @include clock\n" + ScriptLibrary.source("lib/wake")))
                .anyMatch(violation -> violation.contains("includes another"));
    }

    private static Set<String> promised(Script script) {
        return ScriptContract.promisedStatuses(script.scriptName(), ScriptLibrary.source(script.scriptName()));
    }

    private static Set<String> names(Enum<?>[]... constants) {
        return Arrays.stream(constants)
                .flatMap(Arrays::stream)
                .map(Enum::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Path root() throws URISyntaxException {
        return Objects.requireNonNull(
                Path.of(Objects.requireNonNull(ScriptLibrary.class.getResource("/io/minutehand/lua/pop.lua"))
                                .toURI())
                        .getParent());
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".lua"))
                    .map(name -> name.substring(0, name.length() - ".lua".length()))
                    .sorted()
                    .toList();
        }
    }
}
