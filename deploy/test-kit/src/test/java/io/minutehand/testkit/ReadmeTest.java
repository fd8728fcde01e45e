package io.minutehand.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java code of the README compiles as it stands, given the names that a reader would have. */
class ReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final String IMPORTS = """
            import io.minutehand.core.job.*;
            import io.minutehand.core.topic.*;
            import io.minutehand.router.*;
            import io.minutehand.router.outbox.*;
            import io.minutehand.testkit.*;
            import io.minutehand.worker.*;
            import io.minutehand.worker.jdbc.*;
            import io.minutehand.worker.reconcile.*;
            import java.sql.Connection;
            import java.time.Duration;
            import java.time.ZoneOffset;
            import java.util.List;
            import java.util.Optional;
            import javax.sql.DataSource;
            import org.junit.jupiter.api.Test;
            import org.junit.jupiter.api.extension.RegisterExtension;
            import org.slf4j.Logger;
            import org.slf4j.LoggerFactory;
            """;

    private static final String READERS_NAMES = """
            record CloseOrder(long id) {}
            interface Orders { int closeIfUnpaid(long id); void insert(Connection c, long id); void bookPoints(Connection c, long id); }
            interface Printer { boolean ready(); void print(byte[] bytes); }
            static final Logger log = LoggerFactory.getLogger("readme");
            static Orders orders;
            static Printer printer;
            static List<JobSpec<CloseOrder>> specs;
            static JobHandler<CloseOrder> handler;
            static TopicHandle<CloseOrder> closing;
            static JobRouter router;
            static DataSource database;
            static Connection connection;
            """;

    @TempDir
    Path classes;

    @Test
    void shouldCompileTheCodeOfTheReadme() throws IOException {
        List<String> blocks = blocks(Files.readString(Path.of("../../README.md")));
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(3);
        for (int i = 0; i < blocks.size(); i++) {
            assertThat(errors("Block" + i, blocks.get(i)))
                    .as("README block %d", i)
                    .isEmpty();
        }
    }

    @Test
    void shouldNoticeCodeThatDoesNotCompile() {
        assertThat(errors("Wrong", "JobRouter.connect(17);")).isNotEmpty();
    }

    private static List<String> blocks(String text) {
        List<String> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            blocks.add(matcher.group(1));
        }
        return blocks;
    }

    private List<String> errors(String name, String block) {
        boolean isClass = block.startsWith("class ");
        String body = isClass ? "static " + block : "static void run() throws Exception {\n" + block + "\n}";
        String text = IMPORTS + "class " + name + " {\n" + READERS_NAMES + body + "\n}\n";
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return text;
                    }
                };
        List<String> options =
                List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none");
        compiler.getTask(null, null, found, options, null, List.of(file)).call();
        return found.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(diagnostic -> diagnostic.getLineNumber() + ": " + diagnostic.getMessage(null))
                .collect(Collectors.toList());
    }
}
