package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisReplyException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What Redis costs by its own count, summed over all servers that take writes. For one thread. */
final class RedisMeter implements AutoCloseable {
    /** Calls to Redis that took longer are looked up, microseconds. */
    private static final int SLOW_US = 1_000;

    private static final String SLOW_SETTING = "slowlog-log-slower-than";
    private static final int SLOW_KEPT = 128;
    private static final Pattern COMMAND = Pattern.compile("calls=(\\d+),usec=(\\d+),.*");

    private final List<RedisCommands> servers;
    private final List<Map<String, String>> changed = new ArrayList<>();
    private long slowestUs;

    private RedisMeter(List<RedisCommands> servers) {
        this.servers = List.copyOf(servers);
        servers.forEach(server -> changed.add(new LinkedHashMap<>()));
    }

    static RedisMeter of(RedisInstance redis) {
        return new RedisMeter(
                redis instanceof RedisCluster cluster
                        ? cluster.primaries().stream()
                                .map(RedisInstance::connect)
                                .toList()
                        : List.of(redis.connect()));
    }

    /** The servers, each by a connection of its own. */
    List<RedisCommands> servers() {
        return servers;
    }

    /** CPU time since the servers started, user and system, microseconds. */
    double cpuUs() {
        return sum(RedisProbe::cpuUs);
    }

    /** What they use for data, bytes: buffers of clients and of the append-only file come and go. */
    double dataBytes() {
        return sum(server -> {
            Map<String, String> memory = server.info("memory");
            return number(memory, "used_memory")
                    - number(memory, "mem_clients_normal")
                    - number(memory, "mem_aof_buffer");
        });
    }

    /** What the system gives them, bytes. */
    double rssBytes() {
        return sum(server -> number(server.info("memory"), "used_memory_rss"));
    }

    double keys() {
        return sum(server -> server.number("DBSIZE"));
    }

    /**
     * What a command has cost since the servers started.
     *
     * @param us time of the servers while they ran it
     */
    record Cost(long calls, long us) {
        Cost plus(Cost other) {
            return new Cost(calls + other.calls, us + other.us);
        }

        Cost minus(Cost other) {
            return new Cost(calls - other.calls, us - other.us);
        }
    }

    /** By command, as INFO commandstats names it. What a script calls counts there too, beside its EVALSHA. */
    Map<String, Cost> commands() {
        Map<String, Cost> costs = new TreeMap<>();
        for (RedisCommands server : servers) {
            server.info("commandstats").forEach((name, text) -> {
                Matcher matcher = COMMAND.matcher(text);
                if (matcher.matches()) {
                    costs.merge(
                            name.substring("cmdstat_".length()),
                            new Cost(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2))),
                            Cost::plus);
                }
            });
        }
        return costs;
    }

    /** What scripts have cost, all that they call included. */
    Cost scripts() {
        Map<String, Cost> commands = commands();
        Cost sum = new Cost(0, 0);
        for (String name : List.of("evalsha", "eval")) {
            sum = sum.plus(commands.getOrDefault(name, new Cost(0, 0)));
        }
        return sum;
    }

    /** Commands that clients sent since the servers started: what scripts call does not count. */
    double processed() {
        return sum(server -> number(server.info("stats"), "total_commands_processed"));
    }

    /** Sets a setting until this is closed; a server that does not allow it keeps its own. Returns whether all took it. */
    boolean set(String setting, Object value) {
        boolean all = true;
        for (int i = 0; i < servers.size(); i++) {
            try {
                String before = servers.get(i).texts("CONFIG", "GET", setting).get(1);
                servers.get(i).call("CONFIG", "SET", setting, value);
                changed.get(i).putIfAbsent(setting, before);
            } catch (RedisReplyException refused) {
                all = false;
            }
        }
        return all;
    }

    /** Begins to note slow calls. */
    void watchSlow() {
        set(SLOW_SETTING, SLOW_US);
        servers.forEach(server -> server.call("SLOWLOG", "RESET"));
        slowestUs = 0;
    }

    /** Notes slow calls since the last time; often enough that the log does not drop any. */
    void noteSlow() {
        for (RedisCommands server : servers) {
            if (server.call("SLOWLOG", "GET", SLOW_KEPT) instanceof List<?> entries) {
                for (Object entry : entries) {
                    if (entry instanceof List<?> fields && fields.get(2) instanceof Long us) {
                        slowestUs = Math.max(slowestUs, us);
                    }
                }
            }
        }
    }

    /** The slowest call noted, ms; null if there was none. */
    @Nullable
    Double slowestMs() {
        return slowestUs == 0 ? null : (Double) (slowestUs / 1e3);
    }

    private double sum(ToDoubleFunction<RedisCommands> figure) {
        return servers.stream().mapToDouble(figure).sum();
    }

    private static double number(Map<String, String> fields, String name) {
        return Double.parseDouble(fields.getOrDefault(name, "0"));
    }

    /** Puts back what was set, and disconnects. */
    @Override
    public void close() {
        for (int i = 0; i < servers.size(); i++) {
            RedisCommands server = servers.get(i);
            try {
                new HashMap<>(changed.get(i))
                        .forEach((setting, before) -> server.call("CONFIG", "SET", setting, before));
            } catch (RuntimeException gone) {
                // With Redis itself: what made the run fail says so.
            }
            server.close();
        }
    }
}
