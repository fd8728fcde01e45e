package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The classes of this package once more, with one place of one source patched: defects are planted so, and the product needs no switches for them. All
 * else comes from the ordinary class path.
 */
final class Patched extends ClassLoader {
    private static final String PACKAGE = "io.minutehand.worker.";

    private final Path classes;

    private Patched(Path classes) {
        super(Patched.class.getClassLoader());
        this.classes = classes;
    }

    /** Makes one of a package's tests with the patched classes; it is run by its {@code run}. */
    static Runnable create(Class<? extends Runnable> test, Path directory, String type, String from, String to) {
        try {
            Path source = Path.of("src", "main", "java", "io", "minutehand", "worker", type + ".java");
            String text = Files.readString(source);
            assertThat(text).contains(from);
            compile(type, text.replace(from, to), directory);
            return (Runnable) new Patched(directory)
                    .loadClass(test.getName())
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (IOException | ReflectiveOperationException e) {
            throw new IllegalStateException("cannot patch " + type, e);
        }
    }

    private static void compile(String type, String text, Path directory) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileObject source =
                new SimpleJavaFileObject(URI.create("patched:///" + type + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return text;
                    }
                };
        StringWriter complaints = new StringWriter();
        List<String> options = List.of(
                "-proc:none", "-nowarn", "-d", directory.toString(), "-cp", System.getProperty("java.class.path"));
        assertThat(compiler.getTask(complaints, null, null, options, null, List.of(source))
                        .call())
                .as("%s", complaints)
                .isTrue();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null && name.startsWith(PACKAGE)) {
                byte[] bytes = bytes(name);
                loaded = defineClass(name, bytes, 0, bytes.length);
            }
            return loaded != null ? loaded : super.loadClass(name, resolve);
        }
    }

    private byte[] bytes(String name) throws ClassNotFoundException {
        String file = name.substring(PACKAGE.length()) + ".class";
        try (InputStream in = Files.exists(classes.resolve(PACKAGE.replace('.', '/') + file))
                ? Files.newInputStream(classes.resolve(PACKAGE.replace('.', '/') + file))
                : Patched.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
