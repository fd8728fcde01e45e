package io.minutehand.loadtest.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

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
    public static void premain(String file, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Transformer());
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

    /** Puts this clock in the place of the machine's, in the classes of the product and of Redisson. */
    private static final class Transformer implements ClassFileTransformer {
        private static final String HERE = WallClock.class.getName().replace('.', '/');
        private static final String SYSTEM = "java/lang/System";
        private static final String INSTANT = "java/time/Instant";

        @Override
        public byte @Nullable [] transform(
                ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] bytes) {
            if (name == null
                    || name.equals(HERE)
                    || !(name.startsWith("io/minutehand/") || name.startsWith("org/redisson/"))) {
                return null;
            }
            ClassReader reader = new ClassReader(bytes);
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(
                    new ClassVisitor(Opcodes.ASM9, writer) {
                        @Override
                        public MethodVisitor visitMethod(
                                int access, String method, String descriptor, String signature, String[] thrown) {
                            return new Calls(super.visitMethod(access, method, descriptor, signature, thrown));
                        }
                    },
                    0);
            return writer.toByteArray();
        }

        private static final class Calls extends MethodVisitor {
            Calls(MethodVisitor next) {
                super(Opcodes.ASM9, next);
            }

            @Override
            public void visitMethodInsn(
                    int opcode, String owner, String method, String descriptor, boolean onInterface) {
                boolean asksForTheTime = (owner.equals(SYSTEM) && method.equals("currentTimeMillis"))
                        || (owner.equals(INSTANT) && method.equals("now") && descriptor.startsWith("()"));
                super.visitMethodInsn(opcode, asksForTheTime ? HERE : owner, method, descriptor, onInterface);
            }
        }
    }
}
