package io.minutehand.loadtest.receiver;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.service.StopSignal;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The {@code receiver} command: what a service that takes webhooks has to do, and no more. It checks the signature, prints a line and answers 204; what is
 * not signed gets 401.
 */
@Command(
        name = "receiver",
        description = "Takes webhooks and prints them: to see what workers deliver.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"130, 143:stopped by a signal", "1:it could not start", "2:the options are wrong"})
public final class ReceiverCommand implements Callable<Integer> {
    private static final String SECRET_PREFIX = "whsec_";
    private static final String ALGORITHM = "HmacSHA256";

    /** As Standard Webhooks advises: an older message may be one that somebody repeats. */
    private static final long TOLERANCE_S = 300;

    private static final int BODY_BYTES = 1024 * 1024;
    private static final int SHOWN_BYTES = 200;
    private static final int THREADS = 8;
    private static final int BACKLOG = 128;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name or address to listen on (default ${DEFAULT-VALUE}).")
    private String host = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "9000",
            description = "0 = any free one (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "--webhook-secrets",
            required = true,
            paramLabel = "FILE",
            description = "Secrets that sign, one a line, as `worker new-secret` prints them.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private Path secrets;

    /** The command. */
    public ReceiverCommand() {}

    /** Receives until the process is told to stop. */
    @Override
    public Integer call() throws InterruptedException {
        // Else each answer waits for the acknowledgement of its head.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        PrintWriter out = spec.commandLine().getOut();
        List<SecretKeySpec> keys = keys();
        HttpServer server;
        try {
            server = HttpServer.create(new InetSocketAddress(host, port), BACKLOG);
        } catch (IOException failed) {
            spec.commandLine().getErr().println(host + ":" + port + ": " + OneLine.of(failed.getMessage()));
            return ExitCode.SOFTWARE;
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (StopSignal signal = StopSignal.listen()) {
            server.setExecutor(threads);
            server.createContext("/", exchange -> answer(exchange, keys, out));
            server.start();
            out.printf(
                    "minutehand receiver listens on http://%s:%d/%n",
                    host, server.getAddress().getPort());
            out.flush();
            signal.await();
            server.stop(0);
            threads.shutdownNow();
        }
        return ExitCode.OK;
    }

    private List<SecretKeySpec> keys() {
        try {
            List<SecretKeySpec> keys = Files.readAllLines(secrets).stream()
                    .map(String::strip)
                    .filter(line -> line.startsWith(SECRET_PREFIX))
                    .map(line -> new SecretKeySpec(
                            Base64.getDecoder().decode(line.substring(SECRET_PREFIX.length())), ALGORITHM))
                    .toList();
            if (keys.isEmpty()) {
                throw new ParameterException(spec.commandLine(), "--webhook-secrets: there is no secret in " + secrets);
            }
            return keys;
        } catch (IOException failed) {
            throw new ParameterException(
                    spec.commandLine(), "--webhook-secrets: " + secrets + " cannot be read: " + failed, failed);
        } catch (IllegalArgumentException refused) {
            throw new ParameterException(
                    spec.commandLine(), "--webhook-secrets: " + secrets + " has a secret that is not Base64", refused);
        }
    }

    private static void answer(HttpExchange exchange, List<SecretKeySpec> keys, PrintWriter out) throws IOException {
        try (exchange) {
            if (!exchange.getRequestMethod().equals("POST")) {
                exchange.getResponseHeaders().set("Allow", "POST");
                exchange.sendResponseHeaders(405, -1);
                return;
            }
            byte[] body = exchange.getRequestBody().readNBytes(BODY_BYTES);
            Headers headers = exchange.getRequestHeaders();
            Instant now = Instant.now();
            boolean signed = isSigned(headers, body, keys, now);
            exchange.sendResponseHeaders(signed ? 204 : 401, -1);
            String text = new String(body, 0, Math.min(body.length, SHOWN_BYTES), StandardCharsets.UTF_8);
            synchronized (out) {
                out.printf(
                        "%s %s webhook-id=%s attempt=%s late_ms=%s payload=%s%n",
                        now,
                        signed ? "received" : "REFUSED, not signed by a secret that is known:",
                        shown(headers, "webhook-id"),
                        shown(headers, "minutehand-attempt"),
                        lateMs(headers, now),
                        OneLine.of(text));
                out.flush();
            }
        }
    }

    private static boolean isSigned(Headers headers, byte[] body, List<SecretKeySpec> keys, Instant now) {
        String id = headers.getFirst("webhook-id");
        String time = headers.getFirst("webhook-timestamp");
        String signatures = headers.getFirst("webhook-signature");
        if (id == null || time == null || signatures == null) {
            return false;
        }
        try {
            if (Math.abs(now.getEpochSecond() - Long.parseLong(time)) > TOLERANCE_S) {
                return false;
            }
            for (SecretKeySpec key : keys) {
                Mac mac = Mac.getInstance(ALGORITHM);
                mac.init(key);
                mac.update((id + "." + time + ".").getBytes(StandardCharsets.UTF_8));
                byte[] wanted = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body)))
                        .getBytes(StandardCharsets.US_ASCII);
                for (String signature : signatures.split(" ", -1)) {
                    if (MessageDigest.isEqual(wanted, signature.getBytes(StandardCharsets.UTF_8))) {
                        return true;
                    }
                }
            }
            return false;
        } catch (NumberFormatException notATime) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }

    /** From the due time to the delivery, which is as exact as this machine's clock agrees with that of Redis. */
    private static String lateMs(Headers headers, Instant now) {
        String due = headers.getFirst("minutehand-due");
        try {
            return due == null
                    ? "?"
                    : Long.toString(Duration.between(Instant.parse(due), now).toMillis());
        } catch (DateTimeParseException notATime) {
            return "?";
        }
    }

    private static String shown(Headers headers, String name) {
        @Nullable String value = headers.getFirst(name);
        return value == null ? "?" : OneLine.of(value);
    }
}
