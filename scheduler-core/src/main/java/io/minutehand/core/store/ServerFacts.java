package io.minutehand.core.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a primary says of itself, as far as the promises depend on it.
 *
 * @param address host:port as the client knows it
 * @param version of Redis; a Valkey says which Redis it is compatible with
 * @param role {@code master}, or {@code slave} when the address is a replica's
 * @param maxMemoryBytes the limit, 0 = none
 * @param evictionPolicy what happens at the limit
 * @param appendOnly whether writes go to a file
 * @param appendFsync when that file is forced to disk, or null when the user may not ask ({@code CONFIG GET})
 * @param replicas how many are connected
 * @param clusterState {@code ok} or {@code fail} of a Redis Cluster, else null
 */
public record ServerFacts(
        String address,
        String version,
        String role,
        long maxMemoryBytes,
        String evictionPolicy,
        boolean appendOnly,
        @Nullable String appendFsync,
        int replicas,
        @Nullable String clusterState) {
    /** How much a setting endangers. */
    public enum Level {
        /** Jobs would be lost, or nothing would work: a process does not start, unless told to. */
        REFUSED,
        /** Jobs can be lost by a crash that a better setting survives: said once at the start. */
        WARNING,
        /** Worth knowing. */
        NOTE
    }

    /**
     * A setting that endangers a promise.
     *
     * @param level how much
     * @param setting its name in Redis
     * @param what the setting, what follows from it, what to do
     */
    public record Risk(Level level, String setting, String what) {}

    private static final String NO_EVICTION = "noeviction";

    /** Of an answer to INFO. */
    static ServerFacts of(
            String address, Map<String, String> info, @Nullable String appendFsync, @Nullable String clusterState) {
        return new ServerFacts(
                address,
                info.getOrDefault("redis_version", "unknown"),
                info.getOrDefault("role", "unknown"),
                Long.parseLong(info.getOrDefault("maxmemory", "0")),
                info.getOrDefault("maxmemory_policy", NO_EVICTION),
                "1".equals(info.get("aof_enabled")),
                appendFsync,
                Integer.parseInt(info.getOrDefault("connected_slaves", "0")),
                clusterState);
    }

    /** What endangers the promises, the worst first; empty when nothing does. */
    public List<Risk> risks() {
        List<Risk> risks = new ArrayList<>();
        if (role.equals("slave")) {
            risks.add(
                    new Risk(
                            Level.REFUSED,
                            "role",
                            "role=slave: a replica refuses every write; give the primary's address, or use redis+sentinel:// or redis+cluster://"));
        }
        if (!evictionPolicy.equals(NO_EVICTION)) {
            risks.add(
                    maxMemoryBytes > 0
                            ? new Risk(
                                    Level.REFUSED,
                                    "maxmemory-policy",
                                    "maxmemory=" + maxMemoryBytes + " maxmemory-policy=" + evictionPolicy
                                            + ": Redis would throw stored jobs away; set maxmemory-policy noeviction")
                            : new Risk(
                                    Level.WARNING,
                                    "maxmemory-policy",
                                    "maxmemory-policy=" + evictionPolicy
                                            + ": as soon as a maxmemory is set Redis would throw stored jobs away; set noeviction"));
        }
        if (clusterState != null && !clusterState.equals("ok")) {
            risks.add(new Risk(
                    Level.WARNING,
                    "cluster_state",
                    "cluster_state=" + clusterState
                            + ": jobs of slots without a primary are refused until it is back"));
        }
        if (!appendOnly) {
            risks.add(
                    new Risk(
                            Level.WARNING,
                            "appendonly",
                            "appendonly=no: a crash of Redis loses what was stored since its last snapshot; set appendonly yes"));
        } else if ("no".equals(appendFsync)) {
            risks.add(
                    new Risk(
                            Level.WARNING,
                            "appendfsync",
                            "appendfsync=no: a power cut loses what the operating system had not written yet, 30 s and more; set everysec"));
        } else if (appendFsync == null) {
            risks.add(new Risk(Level.NOTE, "appendfsync", "appendfsync is not known: the user may not run CONFIG GET"));
        }
        if (maxMemoryBytes == 0) {
            risks.add(
                    new Risk(
                            Level.NOTE,
                            "maxmemory",
                            "maxmemory=0: a backlog that outgrows the machine ends Redis; with a limit new jobs are refused with STORE_FULL"));
        }
        if (replicas == 0 && !role.equals("slave")) {
            risks.add(new Risk(
                    Level.NOTE,
                    "connected_slaves",
                    "connected_slaves=0: with the machine its jobs are lost; have a replica"));
        }
        return risks;
    }
}
