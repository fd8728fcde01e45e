package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.store.ServerFacts.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ServerFactsTest {
    private static final Map<String, String> SAFE = Map.of(
            "redis_version", "7.0.15",
            "role", "master",
            "maxmemory", "1000000",
            "maxmemory_policy", "noeviction",
            "aof_enabled", "1",
            "connected_slaves", "1");

    @Test
    void shouldFindNothingAtASafeServer() {
        ServerFacts facts = ServerFacts.of("127.0.0.1:6379", SAFE, "everysec", "ok");

        assertThat(facts.risks()).isEmpty();
        assertThat(facts)
                .isEqualTo(new ServerFacts(
                        "127.0.0.1:6379", "7.0.15", "master", 1_000_000, "noeviction", true, "everysec", 1, "ok"));
    }

    @Test
    void shouldRefuseWhatThrowsJobsAwayOrTakesNone() {
        assertThat(risks("maxmemory_policy", "allkeys-lru", "everysec", null))
                .containsExactly("REFUSED maxmemory=1000000");
        assertThat(risks("role", "slave", "everysec", null)).containsExactly("REFUSED role=slave:");
    }

    @Test
    void shouldWarnOfWhatACrashOrALaterSettingTakes() {
        assertThat(risks("aof_enabled", "0", null, null)).containsExactly("WARNING appendonly=no:");
        assertThat(risks("redis_version", "8.0", "no", null)).containsExactly("WARNING appendfsync=no:");
        assertThat(risks("redis_version", "8.0", "always", "fail")).containsExactly("WARNING cluster_state=fail:");
        Map<String, String> unlimited = new HashMap<>(SAFE);
        unlimited.put("maxmemory", "0");
        unlimited.put("maxmemory_policy", "volatile-lru");
        assertThat(told(ServerFacts.of("a:1", unlimited, "everysec", null)))
                .containsExactly("WARNING maxmemory-policy=volatile-lru:", "NOTE maxmemory=0:");
    }

    @Test
    void shouldNoteTheRest() {
        assertThat(risks("maxmemory", "0", "everysec", null)).containsExactly("NOTE maxmemory=0:");
        assertThat(risks("connected_slaves", "0", "everysec", null)).containsExactly("NOTE connected_slaves=0:");
        assertThat(risks("role", "master", null, null)).containsExactly("NOTE appendfsync");
    }

    @Test
    void shouldNameTheWorstFirst() {
        ServerFacts facts = ServerFacts.of(
                "a:1", Map.of("role", "slave", "maxmemory", "1", "maxmemory_policy", "allkeys-lfu"), null, "fail");

        assertThat(facts.risks().stream().map(ServerFacts.Risk::level))
                .containsExactly(Level.REFUSED, Level.REFUSED, Level.WARNING, Level.WARNING);
    }

    private static List<String> risks(String name, String value, @Nullable String fsync, @Nullable String cluster) {
        Map<String, String> info = new HashMap<>(SAFE);
        info.put(name, value);
        return told(ServerFacts.of("a:1", info, fsync, cluster));
    }

    private static List<String> told(ServerFacts facts) {
        return facts.risks().stream()
                .map(risk -> risk.level() + " " + risk.what().split(" ", 2)[0])
                .toList();
    }
}
