package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ApiKeysTest {
    @TempDir
    Path directory;

    private String newKey(String... arguments) {
        StringWriter out = new StringWriter();
        String[] all = new String[arguments.length + 3];
        all[0] = "new-key";
        all[1] = "--keys";
        all[2] = directory.resolve("keys.json").toString();
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        int status = new CommandLine(new RouterCommand())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(out, true))
                .execute(all);
        return status + " " + out.toString().strip();
    }

    @Test
    void shouldMakeKeysThatTheRouterKnowsAndKeepOnlyTheirHash() throws Exception {
        String first = newKey("--id", "orders", "--scope", "produce:orders.*,read:orders.*", "--rate", "100")
                .substring(2);
        String second = newKey("--id", "orders", "--scope", "read:*").substring(2);
        Path file = directory.resolve("keys.json");
        assertThat(Files.readString(file))
                .doesNotContain(first)
                .doesNotContain(first.substring(10))
                .contains("sha256");
        assertThat(Files.getPosixFilePermissions(file).toString()).doesNotContain("GROUP", "OTHERS");
        ApiKeys keys = ApiKeys.of(file);
        assertThat(keys.require(first).scopes())
                .containsExactly(Scope.of("produce:orders.*"), Scope.of("read:orders.*"));
        assertThat(keys.require(first).limit()).isNotNull();
        assertThat(keys.require(second).scopes()).containsExactly(Scope.of("read:*"));
        assertThatThrownBy(() -> keys.require(first + "x")).isInstanceOf(Problem.class);
    }

    @Test
    void shouldTakeAnotherRateOverWhenTheFileChanges() throws Exception {
        String key = newKey("--id", "orders", "--scope", "produce:*", "--rate", "100000")
                .substring(2);
        Path file = directory.resolve("keys.json");
        ApiKeys keys = ApiKeys.of(file);
        RateLimit before = keys.require(key).limit();
        Files.writeString(file, Files.readString(file) + "\n");
        assertThat(keys.refresh()).isNull();
        assertThat(keys.require(key).limit()).isSameAs(before);

        Files.writeString(file, Files.readString(file).replace("100000", "10"));
        assertThat(keys.refresh()).isNull();

        long nowNs = System.nanoTime();
        assertThat(keys.require(key).limit().take(1000, nowNs)).isZero();
        assertThat(keys.require(key).limit().take(1, nowNs))
                .as("wait when 10 a second are allowed and 1,000 were taken at once")
                .isPositive();
    }

    @Test
    void shouldRefuseKeysThatAreNone() {
        assertThat(newKey("--id", "Not An Id", "--scope", "read:*")).startsWith("2 ");
        assertThat(newKey("--id", "a", "--scope", "write:*")).startsWith("2 ");
    }

    @Test
    void shouldSayThatThereIsNoFile() {
        Path missing = directory.resolve("missing.json");
        assertThatThrownBy(() -> ApiKeys.of(missing))
                .hasMessageContaining("NoSuchFile")
                .hasMessageContaining(missing.toString());
    }

    /** A router refuses the whole file for one entry: the key that is made last must not take all others away. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "1000001"})
    void shouldNotMakeAKeyThatSpoilsTheFile(String rate) throws Exception {
        String key = newKey("--id", "orders", "--scope", "read:*").substring(2);
        Path file = directory.resolve("keys.json");
        String before = Files.readString(file);

        assertThat(newKey("--id", "other", "--scope", "read:*", "--rate", rate))
                .startsWith("2 ")
                .contains("rate=" + rate);

        assertThat(Files.readString(file)).isEqualTo(before);
        assertThat(ApiKeys.of(file).require(key).id()).isEqualTo("orders");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"keys\":{}}", "{\"keys\":null}", "{\"keys\":[{\"id\":\"a\"}]}"})
    void shouldNotAddToAFileThatNoRouterReads(String text) throws Exception {
        Path file = directory.resolve("keys.json");
        Files.writeString(file, text);
        assertThat(newKey("--id", "other", "--scope", "read:*")).startsWith("2 ");
        assertThat(Files.readString(file)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"keys\":[]}",
                "[]",
                "",
                "{\"keys\":[{\"id\":\"a\"}]}",
                "{\"keys\":[{\"id\":\"a\",\"sha256\":\"00\",\"scopes\":[\"read:*\"]}]}",
                "{\"keys\":[{\"id\":\"a\",\"sha256\":\"HASH\",\"scopes\":[]}]}",
                "{\"keys\":[{\"id\":\"a\",\"sha256\":\"HASH\",\"scopes\":[\"read:*\"],\"rate\":0}]}",
                "{\"keys\":[{\"id\":\"a\",\"sha256\":\"HASH\",\"scopes\":[\"read:*\"],\"expires\":\"soon\"}]}",
            })
    void shouldRefuseAFileThatIsNone(String text) throws Exception {
        Path file = directory.resolve("bad.json");
        Files.writeString(file, text.replace("HASH", "0".repeat(64)));
        assertThatThrownBy(() -> ApiKeys.of(file)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "produce:orders,   orders,  true",
        "produce:orders,   orders2, false",
        "produce:orders.*, orders.a, true",
        "produce:orders.*, orders,  false",
        "produce:*,        any,     true",
    })
    void shouldCoverTopics(String scope, String topic, boolean covered) {
        assertThat(Scope.of(scope).covers(topic)).isEqualTo(covered);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"produce", "produce:", ":a", "produce:A", "produce:a*b", "produce:{a}", "PRODUCE:*", "all:*"})
    void shouldRefuseScopesThatAreNone(String text) {
        assertThatThrownBy(() -> Scope.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldLetAdminsDoEverythingWithinTheirTopics() {
        ApiKey admin = new ApiKey("a", new byte[0], List.of(Scope.of("admin:orders.*")), null, null);
        assertThat(admin.allows(Scope.Right.PRODUCE, "orders.x")).isTrue();
        assertThat(admin.allows(Scope.Right.READ, "other")).isFalse();
        assertThat(admin.allowsEverywhere(Scope.Right.READ)).isFalse();
    }
}
