package io.minutehand.core.telemetry;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/**
 * The measurements of a process in the format of Prometheus: those of {@link MicrometerTelemetry}, and of the JVM. Needs
 * micrometer-registry-prometheus, which is optional, on the class path. Thread-safe.
 */
public final class PrometheusMetrics implements AutoCloseable {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private final Telemetry telemetry = new MicrometerTelemetry(registry);

    public PrometheusMetrics() {
        collections.bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** Where a router or a node measures to. */
    public Telemetry telemetry() {
        return telemetry;
    }

    /** For meters beside those. */
    public MeterRegistry registry() {
        return registry;
    }

    /** All measurements as they are now: text format 0.0.4. */
    public String scrape() {
        return registry.scrape();
    }

    /** Ends the measuring. */
    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
