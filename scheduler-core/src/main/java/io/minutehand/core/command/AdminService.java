package io.minutehand.core.command;

import io.micrometer.core.instrument.MeterRegistry;
import io.minutehand.core.service.AdminPort;
import io.minutehand.core.telemetry.PrometheusMetrics;
import io.minutehand.core.telemetry.Telemetry;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a service shows of itself: metrics, and the port where they are read. Without a port nothing is measured at all, since measuring costs time
 * on each job. Opened first and closed last, so that a service that drains is still watched. For one thread.
 */
public final class AdminService implements AutoCloseable {
    private final PrintWriter out;
    private final String host;
    private final int port;
    private final @Nullable PrometheusMetrics metrics;
    private @Nullable AdminPort listening;

    /** @param port to listen on, 0 = any free one, or null = none */
    AdminService(PrintWriter out, String host, @Nullable Integer port) {
        this.out = out;
        this.host = host;
        this.port = port == null ? 0 : port;
        this.metrics = port == null ? null : new PrometheusMetrics();
    }

    /** Where the service measures to. */
    public Telemetry telemetry() {
        return metrics == null ? Telemetry.NONE : metrics.telemetry();
    }

    /** Where gauges of the service go, or null when nobody can read them. */
    public @Nullable MeterRegistry registry() {
        return metrics == null ? null : metrics.registry();
    }

    /**
     * Listens from now on, where a port was asked for, and prints where.
     *
     * @param whyNotReady what keeps the service from its work, a sentence each; may block for a while
     * @param beforeScrape brings gauges up to date
     * @throws java.io.UncheckedIOException when it cannot listen there
     */
    public void serve(Supplier<List<String>> whyNotReady, Runnable beforeScrape) {
        PrometheusMetrics shown = metrics;
        if (shown == null) {
            return;
        }
        AdminPort opened = AdminPort.open(host, port, whyNotReady, () -> {
            beforeScrape.run();
            return shown.scrape();
        });
        listening = opened;
        out.printf("minutehand admin port: http://%s:%d/metrics%n", host, opened.port());
        out.flush();
    }

    /** Listens and measures no more. */
    @Override
    public void close() {
        if (listening != null) {
            listening.close();
        }
        if (metrics != null) {
            metrics.close();
        }
    }
}
