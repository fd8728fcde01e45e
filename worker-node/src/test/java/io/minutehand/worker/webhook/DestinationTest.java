package io.minutehand.worker.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DestinationTest {
    private static final Set<HostPort> NOBODY = Set.of();

    private static InetAddress[] found(String... addresses) throws UnknownHostException {
        InetAddress[] found = new InetAddress[addresses.length];
        for (int i = 0; i < addresses.length; i++) {
            found[i] = InetAddress.getByName(addresses[i]);
        }
        return found;
    }

    @Test
    void shouldReadAUrl() throws Exception {
        Destination destination = Destination.of("https://Hooks.example.com/in?token=a%20b", NOBODY);
        assertThat(destination.at()).isEqualTo(new HostPort("hooks.example.com", 443));
        assertThat(destination.tls()).isTrue();
        assertThat(destination.target()).isEqualTo("/in?token=a%20b");
        assertThat(destination).asString().isEqualTo("https://hooks.example.com:443");
        assertThat(destination.authority()).isEqualTo("hooks.example.com");
        assertThat(Destination.of("https://[2606:4700::1111]/", NOBODY).authority())
                .isEqualTo("[2606:4700::1111]");
        assertThat(Destination.of("https://example.com", NOBODY).target()).isEqualTo("/");
        assertThat(destination.address(host -> found("93.184.216.34")).getPort())
                .isEqualTo(443);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ftp://example.com/           | allowed is https
                    file:///etc/passwd           | allowed is https
                    gopher://127.0.0.1:6379/_x   | allowed is https
                    example.com/hook             | allowed is https
                    //example.com/hook           | allowed is https
                    https:///hook                | names no host
                    https:hook                   | names no host
                    https://0x7f.1/              | names no host
                    https://ex_ample.com/        | names no host
                    https://user@example.com/    | holds a user
                    https://a:b@example.com/     | holds a user
                    https://example.com/#x       | fragment
                    https://example.com:8443/    | not on port 443
                    http://example.com/          | without https
                    http://example.com:443/      | without https
                    https://example.com:0/       | 1 to 65535
                    https://example.com:70000/   | 1 to 65535
                    https://exa mple.com/        | no URL""")
    void shouldRefuseUrls(String url, String why) {
        assertThatThrownBy(() -> Destination.of(url, NOBODY))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    @Test
    void shouldNotShowThePathInWhatItSays() {
        assertThatThrownBy(() -> Destination.of("https://example.com:8443/services/s3cret?token=s3cret", NOBODY))
                .hasMessageContaining("example.com:8443")
                .hasMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://127.0.0.1/",
                "https://[::1]/",
                "https://[::ffff:127.0.0.1]/",
                "https://[64:ff9b::7f00:1]/",
                "https://169.254.169.254/latest/meta-data/",
                "https://2130706433/",
                "https://localhost/"
            })
    void shouldNotConnectToWhatIsNotPublic(String url) {
        assertThatThrownBy(() -> Destination.of(url, NOBODY).address(InetAddress::getAllByName))
                .isInstanceOfAny(DeliveryException.class, IllegalArgumentException.class, UnknownHostException.class);
    }

    @Test
    void shouldRefuseANameOfWhichAnyAddressIsNotPublic() {
        Destination destination = Destination.of("https://both.example.com/", NOBODY);
        assertThatThrownBy(() -> destination.address(host -> found("93.184.216.34", "10.0.0.1")))
                .isInstanceOf(DeliveryException.class)
                .hasMessageContaining("not all of its addresses are public")
                .hasMessageNotContaining("10.0.0.1");
        assertThatThrownBy(() -> destination.address(host -> {
                    throw new UnknownHostException(host);
                }))
                .isInstanceOf(UnknownHostException.class);
    }

    @Test
    void shouldLetAnExceptionPassForItsPortAlone() throws Exception {
        Set<HostPort> allowed = Set.of(HostPort.of("localhost:8099"), HostPort.of("[::1]:9000"));
        Destination plain = Destination.of("http://localhost:8099/hook", allowed);
        assertThat(plain.tls()).isFalse();
        assertThat(plain.address(host -> found("127.0.0.1")).getPort()).isEqualTo(8099);
        assertThat(Destination.of("http://[::1]:9000/", allowed).at().host()).isEqualTo("::1");
        assertThatThrownBy(() -> Destination.of("http://localhost:8098/hook", allowed))
                .hasMessageContaining("--webhook-allow localhost:8098");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "host", "host:", ":1", "host:x", "host:0", "host:65536", "::1:80", "[::1]"})
    void shouldRefuseWhatIsNoHostAndPort(String text) {
        assertThatThrownBy(() -> HostPort.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldShowAHostAndPortAsItReadsThem() {
        assertThat(HostPort.of("[FE80::1]:80")).asString().isEqualTo("[fe80::1]:80");
        assertThat(HostPort.of("A.b:1")).asString().isEqualTo("a.b:1");
    }
}
