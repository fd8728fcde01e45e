package io.minutehand.loadtest.fault;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.is;
import static net.bytebuddy.matcher.ElementMatchers.isDeclaredBy;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.takesNoArguments;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.MemberSubstitution;

/**
 * The wall clock of a worker process, as the product and Redisson see it there, to be set while it runs: an agent in that
 * JVM puts its own clock in the place of each call of {@code System.currentTimeMillis} and {@code Instant.now}. (What
 * stands before the C library, such as libfaketime, makes the waits of a JVM many times longer.)
 */
public final class WallClock {
    private static final long LOOK_MS = 50;
    private static volatile long offsetMs;

    private final Path file;
    private final Path agent;

    private WallClock(Path file, Path agent) {
        this.file = file;
        this.agent = agent;
    }

    /**
     * A clock that is right, for a process that gets its {@link #environment}.
     *
     * @param directory where its files go
     * @param name of the process
     */
    static WallClock create(Path directory, String name) {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(new Attributes.Name("Premain-Class"), WallClock.class.getName());
        Path agent = directory.resolve(name + "-clock.jar");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(agent), manifest)) {
            jar.finish();
        } catch (IOException e) {
            throw new UncheckedIOException("Writing " + agent + " failed: " + e.getMessage(), e);
        }
        WallClock clock = new WallClock(directory.resolve(name + ".clock"), agent);
        clock.set(Duration.ZERO);
        return clock;
    }

    /** What a JVM needs in its environment to live by this clock. */
    Map<String, String> environment() {
        return Map.of("JAVA_TOOL_OPTIONS", "-javaagent:" + agent.toAbsolutePath() + "=" + file.toAbsolutePath());
    }

    /** Sets the clock: within a tenth of a second it differs from the machine's by so much, forward if positive. */
    void set(Duration offset) {
        try {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.writeString(next, Long.toString(offset.toMillis()));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("Setting the clock in " + file + " failed: " + e.getMessage(), e);
        }
    }

    /**
     * Called by the JVM of the worker before anything else.
     *
     * @param file where the offset stands
     */
    public static void premain(String file, Instrumentation instrumentation) throws ReflectiveOperationException {
        Method millis = WallClock.class.getMethod("currentTimeMillis");
        Method now = WallClock.class.getMethod("now");
        new AgentBuilder.Default()
                .type(nameStartsWith("io.minutehand.")
                        .or(nameStartsWith("org.redisson."))
                        .and(not(is(WallClock.class))))
                .transform((builder, type, loader, module, domain) -> builder.visit(MemberSubstitution.relaxed()
                        .method(isDeclaredBy(System.class).and(named("currentTimeMillis")))
                        .replaceWith(millis)
                        .method(isDeclaredBy(Instant.class).and(named("now")).and(takesNoArguments()))
                        .replaceWith(now)
                        .on(any())))
                .installOn(instrumentation);
        Thread thread = new Thread(() -> follow(Path.of(file)), "wall-clock");
        thread.setDaemon(true);
        thread.start();
    }

    private static void follow(Path file) {
        try {
            while (true) {
                offsetMs = Long.parseLong(Files.readString(file));
                Thread.sleep(LOOK_MS);
            }
        } catch (IOException | NumberFormatException | InterruptedException gone) {
            // With its directory: the run is over.
        }
    }

    /** Stands for {@code System.currentTimeMillis}. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis() + offsetMs;
    }

    /** Stands for {@code Instant.now}. */
    public static Instant now() {
        return Instant.now().plusMillis(offsetMs);
    }
}
