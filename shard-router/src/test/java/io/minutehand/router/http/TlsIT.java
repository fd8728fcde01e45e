package io.minutehand.router.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsIT {
    private static final String PASSWORD = "changeit";

    @TempDir
    Path directory;

    private static void pem(Path file, String kind, byte[] bytes) throws Exception {
        Files.writeString(
                file,
                "-----BEGIN " + kind + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + kind
                        + "-----\n");
    }

    @Test
    void shouldServeTls() throws Exception {
        Path store = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        PASSWORD)
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Path certificate = directory.resolve("certificate.pem");
        Path key = directory.resolve("key.pem");
        pem(certificate, "CERTIFICATE", keys.getCertificate("a").getEncoded());
        pem(key, "PRIVATE KEY", keys.getKey("a", PASSWORD.toCharArray()).getEncoded());

        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("a", keys.getCertificate("a"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);

        try (TestRouter http = TestRouter.start(TestRouter.settings().withTls(certificate, key))) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("https://127.0.0.1:" + http.http().port() + "/healthz"))
                    .build();
            HttpResponse<String> answer =
                    HttpClient.newBuilder().sslContext(tls).build().send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
            assertThat(http.raw("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                    .doesNotContain("200");
        }
    }

    @Test
    void shouldNotStartWithACertificateThatIsNone() throws Exception {
        Path file = directory.resolve("nothing.pem");
        Files.writeString(file, "nothing");
        assertThatThrownBy(() -> TestRouter.start(TestRouter.settings().withTls(file, file)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
