package io.minutehand.redis;

import io.minutehand.source.FreePorts;
import io.minutehand.source.Passwords;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * A Redis with a TLS port and an ACL user, for tests of secured connections. Its certificate is made at start for
 * 127.0.0.1 and localhost, lasts two days, and is trusted by {@link #trustStore()} only. The plain port of
 * {@link #server()} stays open on loopback for the tests' own look.
 */
public final class RedisTls implements AutoCloseable {

    private static final String ALIAS = "redis";
    private static final String USER = "minutehand";
    private static final String STORE_TYPE = "PKCS12";
    private static final String PASSWORD_VARIABLE = "KEY_STORE_PASSWORD";
    private static final long KEYTOOL_LIMIT_S = 60;
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final PrivateDirectory directory;
    private final RedisServer server;
    private final int port;
    private final String userPassword;
    private final String storePassword;

    private RedisTls(
            PrivateDirectory directory, RedisServer server, int port, String userPassword, String storePassword) {
        this.directory = directory;
        this.server = server;
        this.port = port;
        this.userPassword = userPassword;
        this.storePassword = storePassword;
    }

    /**
     * True if the {@linkplain RedisBinary#locate() located} program can speak TLS. Not every build can; the embedded one can.
     *
     * @throws IllegalStateException if it cannot and {@code CI} is set: there TLS tests must run and not be skipped
     */
    public static boolean supported() {
        return supportedBy(RedisBinary.locate());
    }

    /**
     * True if this program was built with TLS. Starts it once to ask.
     *
     * @throws IllegalStateException if it was not and {@code CI} is set
     */
    public static boolean supportedBy(RedisBinary binary) {
        try (RedisServer server = RedisServer.start(binary, RedisSettings.defaults(), RedisServer.Role.STANDALONE);
                RedisCommands commands = server.connect()) {
            boolean supported = !commands.texts("CONFIG", "GET", "tls-port").isEmpty();
            return orFail(supported, System.getenv("CI"), binary);
        }
    }

    /** The answer; under CI a no is an error. */
    static boolean orFail(boolean supported, @Nullable String ci, RedisBinary binary) {
        if (!supported && ci != null) {
            throw new IllegalStateException(
                    binary.describe() + " was built without TLS, which CI needs; install one with it");
        }
        return supported;
    }

    /**
     * Starts a server of the {@linkplain RedisBinary#locate() located} program whose ACL user may do everything.
     *
     * @throws IllegalStateException if the program has no TLS, or if it does not start
     */
    public static RedisTls start() {
        return start(RedisBinary.locate(), "~* &* +@all");
    }

    /**
     * Starts a server.
     *
     * @param aclRules what the ACL user may do, in Redis's words, such as {@code ~mh:* &mh:* +@all -@admin}
     * @throws IllegalStateException if the program has no TLS, or if it does not start
     */
    public static RedisTls start(RedisBinary binary, String aclRules) {
        Deployment.TLS.note();
        PrivateDirectory directory = PrivateDirectory.create("redis-tls");
        try {
            String storePassword = Passwords.random();
            String userPassword = Passwords.random();
            Path certificate = directory.path().resolve("redis.crt");
            Path key = directory.path().resolve("redis.key");
            makeCertificate(directory, storePassword, certificate, key);
            int port = FreePorts.next();
            RedisServer server = RedisServer.start(
                    binary,
                    RedisSettings.defaults()
                            .with(
                                    "tls-port " + port,
                                    "tls-cert-file \"" + certificate + "\"",
                                    "tls-key-file \"" + key + "\"",
                                    "tls-ca-cert-file \"" + certificate + "\"",
                                    "tls-auth-clients no",
                                    "user " + USER + " on #" + sha256(userPassword) + " " + aclRules),
                    RedisServer.Role.STANDALONE);
            return new RedisTls(directory, server, port, userPassword, storePassword);
        } catch (IOException e) {
            directory.close();
            throw new UncheckedIOException("Making a certificate failed: " + e.getMessage(), e);
        } catch (GeneralSecurityException e) {
            directory.close();
            throw new IllegalStateException("Making a certificate failed: " + e.getMessage(), e);
        } catch (RuntimeException e) {
            directory.close();
            throw e;
        }
    }

    /** {@code rediss://user:password@127.0.0.1:port} of the ACL user. Not for logs. */
    public String uri() {
        return "rediss://" + USER + ":" + userPassword + "@127.0.0.1:" + port;
    }

    /** The TLS port. */
    public int port() {
        return port;
    }

    /** The name of the ACL user. */
    public String user() {
        return USER;
    }

    /** The password of the ACL user. */
    public String userPassword() {
        return userPassword;
    }

    /** A PKCS12 file with the server's certificate and nothing else. */
    public Path trustStore() {
        return directory.path().resolve("trust.p12");
    }

    /** The password of {@link #trustStore()}. */
    public String trustStorePassword() {
        return storePassword;
    }

    /** The server behind, with its plain port and its default user. */
    public RedisServer server() {
        return server;
    }

    /**
     * Opens a connection of its own as the ACL user over TLS. The caller closes it.
     *
     * @throws UncheckedIOException if the server does not answer
     */
    public RedisCommands connect() {
        return RedisCommands.connect(uri(), sockets());
    }

    /** Makes sockets that trust this server only. */
    public SocketFactory sockets() {
        try {
            KeyStore store = load(trustStore(), storePassword);
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (IOException e) {
            throw new UncheckedIOException("Reading " + trustStore() + " failed: " + e.getMessage(), e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    /** Ends the server and deletes certificate and key. Calling it again does nothing. */
    @Override
    public void close() {
        server.close();
        directory.close();
    }

    private static void makeCertificate(PrivateDirectory directory, String password, Path certificate, Path keyFile)
            throws IOException, GeneralSecurityException {
        Path storeFile = directory.path().resolve("key.p12");
        keytool(directory, password, storeFile);
        KeyStore store = load(storeFile, password);
        Key key = store.getKey(ALIAS, password.toCharArray());
        writePem(keyFile, "PRIVATE KEY", key.getEncoded());
        writePem(certificate, "CERTIFICATE", store.getCertificate(ALIAS).getEncoded());
        KeyStore trust = KeyStore.getInstance(STORE_TYPE);
        trust.load(null, null);
        trust.setCertificateEntry(ALIAS, store.getCertificate(ALIAS));
        Path trustFile = Files.createFile(directory.path().resolve("trust.p12"), OWNER_ONLY);
        try (var out = Files.newOutputStream(trustFile)) {
            trust.store(out, password.toCharArray());
        }
    }

    /** The JDK has no public class that makes a certificate, only this tool. */
    private static void keytool(PrivateDirectory directory, String password, Path storeFile) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1,dns:localhost",
                        "-validity",
                        "2",
                        "-storetype",
                        STORE_TYPE,
                        "-keystore",
                        storeFile.toString(),
                        // Not -storepass with the value: arguments show in the process list.
                        "-storepass:env",
                        PASSWORD_VARIABLE)
                .redirectErrorStream(true);
        builder.environment().put(PASSWORD_VARIABLE, password);
        Process process = directory.start(builder);
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(KEYTOOL_LIMIT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("keytool failed: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while making a certificate", e);
        }
    }

    private static KeyStore load(Path file, String password) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(STORE_TYPE);
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, password.toCharArray());
        }
        return store;
    }

    private static void writePem(Path file, String type, byte[] der) throws IOException {
        Files.createFile(file, OWNER_ONLY);
        Files.writeString(
                file,
                "-----BEGIN " + type + "-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
                        + "\n-----END " + type + "-----\n");
    }

    private static String sha256(String text) throws GeneralSecurityException {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}
