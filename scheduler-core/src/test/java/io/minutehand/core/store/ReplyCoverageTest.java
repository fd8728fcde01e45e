package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ReplyCoverageTest {
    @Test
    void shouldHaveATestForEveryReplyOfEveryScript() {
        Set<String> promised = new TreeSet<>();
        for (Script script : Script.values()) {
            String name = script.scriptName();
            Set<String> statuses = ScriptContract.promisedStatuses(name, ScriptLibrary.source(name));
            statuses.forEach(status -> promised.add(name + " " + status));
            if (statuses.isEmpty()) {
                promised.add(name);
            }
        }

        Set<String> shown = new ClassFileImporter()
                .importPackages("io.minutehand.core").stream()
                        .flatMap(type -> type.getMethods().stream())
                        .filter(method -> method.isAnnotatedWith(Replies.class))
                        .filter(method -> method.isAnnotatedWith(Test.class))
                        .flatMap(ReplyCoverageTest::replies)
                        .collect(Collectors.toCollection(TreeSet::new));

        assertThat(shown).isEqualTo(promised);
    }

    private static java.util.stream.Stream<String> replies(JavaMethod method) {
        return java.util.Arrays.stream(method.getAnnotationOfType(Replies.class).value());
    }
}
