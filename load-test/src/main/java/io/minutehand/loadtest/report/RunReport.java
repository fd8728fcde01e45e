package io.minutehand.loadtest.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.minutehand.loadtest.check.Lateness;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one run, in the form in which they are written as JSON.
 *
 * <p>{@code lost}, {@code duplicates} and {@code early} come from the external ledger. Lateness is the first start of
 * each attempt against the due time of that attempt. Times are milliseconds unless the name says otherwise; a figure
 * that could not be taken is null.
 *
 * @param figures those of every report; in JSON they stand beside the others
 * @param others counts that should all be 0 but {@code recovered}, {@code retried} and {@code tornLines}
 * @param added the node that joined during the run, or null
 * @param keys the largest keys seen, or null
 * @param perMinute starts of each node by the minute in which they were due
 * @param passed whether the run kept its promises
 * @param failures if not, why; one sentence each
 */
public record RunReport(
        @JsonUnwrapped RunFigures figures,
        Others others,
        @Nullable Added added,
        @Nullable Keys keys,
        List<TopicRow> perTopic,
        List<NodeRow> perNode,
        List<MinuteRow> perMinute,
        boolean passed,
        List<String> failures) {

    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);

    /** Percentiles of lateness, in milliseconds. */
    public record LatenessMs(double p50, double p90, double p99, double p999, double p9999, double max) {
        /** Returns the percentiles of a histogram of microseconds. */
        public static LatenessMs ofUs(Histogram us) {
            return new LatenessMs(
                    us.getValueAtPercentile(50) / 1e3,
                    us.getValueAtPercentile(90) / 1e3,
                    us.getValueAtPercentile(99) / 1e3,
                    us.getValueAtPercentile(99.9) / 1e3,
                    us.getValueAtPercentile(99.99) / 1e3,
                    us.getMaxValue() / 1e3);
        }

        static LatenessMs of(Lateness lateness) {
            return new LatenessMs(
                    lateness.p50(), lateness.p90(), lateness.p99(), lateness.p999(), lateness.p9999(), lateness.max());
        }
    }

    /**
     * Lateness around minute boundaries.
     *
     * @param p99 of the starts due within a second of a boundary, before or after; null if there were none
     * @param elsewhereP99 of all others; null if there were none
     * @param starts how many starts were near a boundary
     */
    public record Boundary(@Nullable Double p99, @Nullable Double elsewhereP99, long starts) {}

    /**
     * A SIGKILL of a worker.
     *
     * @param node the worker's name
     * @param at seconds after the first job was due
     * @param inFlight jobs that Redis held as handed to it when it was killed
     * @param bucketsHeld bucket leases that it held
     * @param takeoverMs until every bucket that it held, and that had jobs left, was drained by somebody else; null if
     *     none had
     * @param repeatedStarts duplicates of jobs that it had started; at most {@code inFlight}
     * @param dueAfterMaxMs largest lateness of a job that was due after the kill
     * @param before8sP99 99th percentile of lateness over the 8 s before the kill
     * @param last8sP99 99th percentile of lateness over the last 8 s of the run
     */
    public record Fault(
            String node,
            double at,
            int inFlight,
            int bucketsHeld,
            @Nullable Double takeoverMs,
            long repeatedStarts,
            double dueAfterMaxMs,
            double before8sP99,
            double last8sP99) {}

    /** Counts that have no place of their own in the contract of the report. */
    public record Others(
            long refused,
            long unknown,
            long recovered,
            long unexpected,
            long retried,
            long twoEnds,
            long runAfterEnd,
            long dueChanged,
            long undrained,
            int tornLines,
            long damagedLines) {}

    /**
     * A worker that joined during the run.
     *
     * @param at seconds after the first job was due, when it was ready
     * @param minute the first minute that began at least 10 s later; null if the run ended before
     * @param share its share of the starts from that minute on
     * @param assignedShare the share of those starts that lay in shards which the assignment gives it
     * @param dueAfterMaxMs largest lateness of a job due after it was ready
     * @param before8sP99 99th percentile of lateness over the 8 s before
     * @param after8sP99 99th percentile of lateness over the 8 s after
     */
    public record Added(
            String node,
            double at,
            @Nullable Long minute,
            @Nullable Double share,
            @Nullable Double assignedShare,
            double dueAfterMaxMs,
            double before8sP99,
            double after8sP99) {}

    /**
     * Sizes of keys, sampled while the run went on.
     *
     * @param largestBucket most jobs in one bucket
     * @param meanBucket mean number of jobs of the buckets in the sample that holds the largest
     * @param largestRecordHash most records in one hash
     */
    public record Keys(long largestBucket, double meanBucket, long largestRecordHash) {}

    /** The figures of one topic. */
    public record TopicRow(
            String topic, long scheduled, long started, long retried, long done, long dead, LatenessMs latenessMs) {}

    /** The figures of one node. {@code share} is of all starts, 0 to 1. */
    public record NodeRow(String node, long started, double share, LatenessMs latenessMs) {}

    /** The first starts that were due in one minute, by node. */
    public record MinuteRow(String minute, long started, Map<String, Long> nodes) {}

    /** Returns the exit status that belongs to the report: 0 if the run kept its promises, else 1. */
    @JsonIgnore
    public int exitStatus() {
        return passed ? 0 : 1;
    }

    /** Returns the report as JSON text. */
    public String json() throws IOException {
        return MAPPER.writeValueAsString(this);
    }

    /** Writes the report as JSON into a file; directories that are missing are made. */
    public void write(Path file) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.writeString(file, json() + System.lineSeparator());
    }
}
