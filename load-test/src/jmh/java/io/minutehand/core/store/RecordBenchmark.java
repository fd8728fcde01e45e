package io.minutehand.core.store;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The stored form of a job: written once, read at each handout. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RecordBenchmark {
    /** A power of two: the next job is a mask away. */
    private static final int JOBS = 64;

    private static final int HEADERS = 2;

    @Param({"100", "4096"})
    public int payloadBytes;

    private final byte[][] payloads = new byte[JOBS][];
    private final byte[][] records = new byte[JOBS][];
    private final String[] members = new String[JOBS];
    private List<String> ids = List.of();
    private Map<String, String> headers = Map.of();
    private int next;

    @Setup
    public void fill() {
        StoredJobs jobs = new StoredJobs();
        ids = jobs.ids(JOBS);
        headers = StoredJobs.headers(HEADERS);
        for (int i = 0; i < JOBS; i++) {
            payloads[i] = jobs.payload(payloadBytes);
            members[i] = StoredJobs.member(ids.get(i));
            byte[] digest = JobRecord.digest(ids.get(i), headers, payloads[i], "now");
            records[i] = jobs.record(digest, JobRecord.encodeBody(ids.get(i), headers, payloads[i]));
        }
        if (decode().damage() != null) {
            throw new IllegalStateException("the record cannot be read back: " + decode().damage());
        }
    }

    private int next() {
        next = (next + 1) & (JOBS - 1);
        return next;
    }

    @Benchmark
    public byte[] encode() {
        int at = next();
        return JobRecord.encodeBody(ids.get(at), headers, payloads[at]);
    }

    @Benchmark
    public byte[] digest() {
        int at = next();
        return JobRecord.digest(ids.get(at), headers, payloads[at], "after:1800000");
    }

    @Benchmark
    public JobRecord.Decoded decode() {
        int at = next();
        return JobRecord.decode("orders", members[at], records[at]);
    }
}
