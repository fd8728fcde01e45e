package io.minutehand.postgres;

import io.minutehand.redis.Deployment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One PostgreSQL for all tests of a JVM, started at the first call and gone with the JVM. Tests keep apart by schemas. */
public final class SharedPostgres {

    private static final Logger LOG = LoggerFactory.getLogger(SharedPostgres.class);

    private static @Nullable PostgresInstance shared;

    private SharedPostgres() {}

    /**
     * The shared server. Do not close it.
     *
     * @throws IllegalStateException if no source is available, or if it does not start
     */
    public static synchronized PostgresInstance get() {
        PostgresInstance instance = shared;
        if (instance == null) {
            instance = PostgresSource.forTests().open();
            LOG.info("postgres: tests of this JVM run against {}", instance.describe());
            shared = instance;
        }
        Deployment.ofPostgres(instance.kind()).note();
        return instance;
    }

    /**
     * A schema of its own for a test class, which closes it.
     *
     * @throws IllegalStateException if no source is available, or if the user may not create schemas
     */
    public static PostgresSchema newSchema(Class<?> test) {
        return get().newSchema(test.getSimpleName());
    }
}
