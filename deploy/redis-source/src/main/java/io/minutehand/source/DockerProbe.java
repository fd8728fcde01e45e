package io.minutehand.source;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.SubstituteLoggerFactory;
import org.testcontainers.DockerClientFactory;

/** Asks whether a container can be started, without needing Testcontainers on the class path and without its noise. */
public final class DockerProbe {

    private static final String FACTORY = "org.testcontainers.DockerClientFactory";

    private static @Nullable Boolean available;

    private DockerProbe() {}

    /** True if Testcontainers is on the class path and finds a Docker engine. Asked once per JVM: it costs 0.6 s. */
    public static synchronized boolean isAvailable() {
        Boolean known = available;
        if (known == null) {
            known = probe();
            available = known;
        }
        return known;
    }

    private static boolean probe() {
        try {
            Class.forName(FACTORY, false, DockerProbe.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return false;
        }
        // Without an engine Testcontainers logs an error with a stack trace, and that is the usual case here.
        Silence silence = new Silence("org.testcontainers");
        try {
            return Engine.found();
        } finally {
            silence.end();
        }
    }

    /** The only class here that needs Testcontainers, which is optional. */
    private static final class Engine {
        private Engine() {}

        static boolean found() {
            return DockerClientFactory.instance().isDockerAvailable();
        }
    }

    /** Turns a logger off for a while, if the logging back end is Logback; other back ends are left as they are. */
    static final class Silence {

        private static final Duration SLF4J_LIMIT = Duration.ofSeconds(30);

        private final Logger logger;
        private final @Nullable Object before;

        Silence(String name) {
            // While another thread sets SLF4J up, loggers are stand-ins without a level.
            Waiting.until(
                    "SLF4J to be set up",
                    SLF4J_LIMIT,
                    () -> !(LoggerFactory.getILoggerFactory() instanceof SubstituteLoggerFactory),
                    () -> "it is not");
            logger = LoggerFactory.getLogger(name);
            before = invoke("getLevel");
            setLevel("OFF");
        }

        void end() {
            setLevel(before == null ? null : before.toString());
        }

        private void setLevel(@Nullable String level) {
            try {
                for (Method method : logger.getClass().getMethods()) {
                    if (method.getName().equals("setLevel") && method.getParameterCount() == 1) {
                        Class<?> type = method.getParameterTypes()[0];
                        Object value = level == null
                                ? null
                                : type.getMethod("valueOf", String.class).invoke(null, level);
                        method.invoke(logger, value);
                    }
                }
            } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
                // Another back end with a method of that name: its lines are only noise.
            }
        }

        private @Nullable Object invoke(String method) {
            try {
                return logger.getClass().getMethod(method).invoke(logger);
            } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
                return null;
            }
        }
    }
}
