package io.minutehand.core.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.core.telemetry.Telemetry;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class AdminArgumentsTest {
    @Command(name = "service")
    private static final class Service {
        @Mixin
        private final AdminArguments admin = new AdminArguments();
    }

    private final StringWriter out = new StringWriter();

    private AdminArguments parsed(String... words) {
        Service service = new Service();
        new CommandLine(service).setOut(new PrintWriter(out)).parseArgs(words);
        return service.admin;
    }

    @Test
    void shouldMeasureNothingWhenNobodyCanReadIt() {
        try (AdminService service = parsed().open()) {
            assertThat(service.telemetry()).isSameAs(Telemetry.NONE);
            assertThat(service.registry()).isNull();
            service.serve(List::of, () -> {});
            assertThat(out.toString()).isEmpty();
        }
    }

    @Test
    void shouldServeWhatWasMeasuredAndLookBeforeEachScrape() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        try (AdminService service = parsed("--admin-port=0").open()) {
            service.telemetry().count(Telemetry.Counter.DONE, "orders", 3);
            service.registry().gauge("looks", looks);
            service.serve(List::of, looks::incrementAndGet);

            String said = out.toString();
            assertThat(said).matches("minutehand admin port: http://127\\.0\\.0\\.1:\\d+/metrics\\n");
            String url = said.substring(said.indexOf("http"), said.length() - 1);
            assertThat(scrape(url))
                    .contains("minutehand_done_total{topic=\"orders\"} 3.0", "looks 1.0", "jvm_memory_used_bytes");
            assertThat(scrape(url)).contains("looks 2.0");
        }
    }

    private static String scrape(String url) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                .body();
    }

    @Test
    void shouldRefuseAPortThatThereIsNot() {
        assertThatThrownBy(() -> parsed("--admin-port=65536").open())
                .isInstanceOf(ParameterException.class)
                .hasMessage("--admin-port=65536, allowed are 0 to 65535");
    }
}
