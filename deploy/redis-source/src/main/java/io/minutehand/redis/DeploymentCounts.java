package io.minutehand.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.slf4j.LoggerFactory;

/**
 * Adds a line to the file of {@code MINUTEHAND_TEST_COUNTS} for each test that ends: {@code KIND STATUS TEST}, where the
 * kind is {@code single}, {@code cluster}, {@code sentinel} or {@code tls}, or {@code postgres_} and the label of its source; a
 * test that used two has two lines, one that used neither Redis nor PostgreSQL has none. A test that started none itself counts by what its class did. Without the variable it writes
 * nothing. Modules register it for their own tests, so that nobody else's are watched.
 */
public final class DeploymentCounts implements TestExecutionListener {

    /** Environment variable with the file. */
    public static final String VARIABLE = "MINUTEHAND_TEST_COUNTS";

    private final @Nullable Path file;
    private final Map<String, Set<Deployment>> notes = new ConcurrentHashMap<>();
    private volatile @Nullable TestPlan plan;

    /** For the service loader. */
    public DeploymentCounts() {
        this(Optional.ofNullable(System.getenv(VARIABLE)).map(Path::of).orElse(null));
    }

    DeploymentCounts(@Nullable Path file) {
        this.file = file;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        // Whoever asks for a logger while another thread asks for the first gets a stand-in, and tests run side by
        // side.
        LoggerFactory.getILoggerFactory();
        plan = testPlan;
    }

    @Override
    public void executionStarted(TestIdentifier started) {
        Deployment.noteIn(notes.computeIfAbsent(started.getUniqueId(), id -> Deployment.newNotes()));
    }

    @Override
    public void executionFinished(TestIdentifier finished, TestExecutionResult result) {
        if (finished.isTest()) {
            used(finished).forEach(kind -> write(kind, result, finished));
        }
        Deployment.noteIn(finished.getParentId()
                .map(parent -> notes.computeIfAbsent(parent, id -> Deployment.newNotes()))
                .orElseGet(Deployment::newNotes));
    }

    /** What it noted itself, else what was noted around it. */
    private Set<Deployment> used(TestIdentifier test) {
        Set<Deployment> own = notes.getOrDefault(test.getUniqueId(), Set.of());
        TestPlan known = plan;
        if (!own.isEmpty() || known == null) {
            return own;
        }
        return known.getParent(test).map(this::used).orElse(own);
    }

    private void write(Deployment kind, TestExecutionResult result, TestIdentifier test) {
        if (file == null) {
            return;
        }
        String line = kind.name().toLowerCase(Locale.ROOT) + " " + result.getStatus() + " " + test.getUniqueId() + "\n";
        try {
            Files.writeString(file, line, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("Counting tests in " + file + " failed; see " + VARIABLE, e);
        }
    }
}
