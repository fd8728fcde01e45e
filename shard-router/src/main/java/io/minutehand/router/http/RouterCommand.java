package io.minutehand.router.http;

import io.minutehand.core.command.AdminArguments;
import io.minutehand.core.command.AdminService;
import io.minutehand.core.command.RedisArguments;
import io.minutehand.core.job.Durability;
import io.minutehand.core.job.Limits;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.service.StopSignal;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreConnection;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.OpenTelemetryTraces;
import io.minutehand.core.telemetry.Telemetry;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.router.JobRouter;
import io.minutehand.router.OnFull;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code router} command. */
@Command(
        name = "router",
        description = "Serves producers in any language over HTTP.",
        mixinStandardHelpOptions = true,
        subcommands = NewKeyCommand.class,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"130, 143:stopped by a signal, in good order", "1:it could not start", "2:the options are wrong"
        })
public final class RouterCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration METERS_EVERY = Duration.ofSeconds(10);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Mixin
    private RedisArguments redis = new RedisArguments();

    @Mixin
    private AdminArguments admin = new AdminArguments();

    @Option(
            names = "--host",
            paramLabel = "HOST",
            defaultValue = "127.0.0.1",
            description = "Name or address to listen on (default ${DEFAULT-VALUE}).")
    private String host = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "0 = any free one (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "--keys",
            paramLabel = "FILE",
            defaultValue = "${env:MINUTEHAND_KEYS}",
            showDefaultValue = Visibility.NEVER,
            description =
                    "API keys, as `router new-key` writes them; read again when it changes (environment MINUTEHAND_KEYS).")
    private @Nullable Path keys;

    @Option(
            names = "--insecure-dev",
            description = "No keys: everybody on this machine may do everything. Loopback only.")
    private boolean insecure;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "PEM: the certificate, and those that vouch for it.")
    private @Nullable Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "PEM (PKCS8): the certificate's key.")
    private @Nullable Path privateKey;

    @Option(
            names = "--deadline",
            paramLabel = "MS",
            defaultValue = "5000",
            description =
                    "How long a call is repeated on Redis before it is answered with 503 or 504 (default ${DEFAULT-VALUE}).")
    private long deadlineMs;

    @Option(
            names = "--payload-bytes",
            paramLabel = "N",
            description = "Bytes of a payload at most (default 262144, at most 786432).")
    private int payloadBytes = Limits.PAYLOAD_BYTES;

    @Option(
            names = "--replicas",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "A job counts as stored when so many replicas of Redis have it, too (default ${DEFAULT-VALUE}).")
    private int replicas;

    @Option(names = "--no-new-topics", description = "Jobs of topics that are not declared are refused, not stored.")
    private boolean noNewTopics;

    @Option(
            names = "--connections-per-address",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Connections of one client address at most (default ${DEFAULT-VALUE}).")
    private int connectionsPerAddress;

    @Option(
            names = "--idle-timeout",
            paramLabel = "MS",
            defaultValue = "30000",
            description = "How long a connection may take to its next request (default ${DEFAULT-VALUE}).")
    private long idleMs;

    @Option(
            names = "--body-timeout",
            paramLabel = "MS",
            defaultValue = "15000",
            description = "How long a body may take, or a stream be silent (default ${DEFAULT-VALUE}).")
    private long bodyMs;

    /** The command. */
    public RouterCommand() {}

    /** Serves until the process is told to stop. */
    @Override
    public Integer call() throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        RedisOptions options = redis.options();
        requireSafety();
        Traces traces = OpenTelemetryTraces.global();
        try (StopSignal signal = StopSignal.listen();
                AdminService watched = admin.open();
                StoreConnection connection = StoreConnection.open(options);
                TopicMeters meters = new TopicMeters(connection, watched.registry(), PATIENCE);
                JobRouter jobs = jobs(connection, watched.telemetry(), traces);
                HttpRouter http = HttpRouter.start(settings(), connection, jobs, traces, PATIENCE)) {
            meters.start(METERS_EVERY);
            watched.serve(() -> whyNotReady(http), () -> {});
            spec.commandLine()
                    .getOut()
                    .printf(
                            "minutehand router listens on %s://%s:%d%s%n",
                            certificate == null ? "http" : "https",
                            host,
                            http.port(),
                            keys == null ? " WITHOUT KEYS: everybody on this machine may do everything" : "");
            spec.commandLine().getOut().flush();
            signal.await();
            http.announceStop();
            return ExitCode.OK;
        } catch (UncheckedIOException failed) {
            err.println(Json.line(String.valueOf(failed.getMessage())));
            return ExitCode.SOFTWARE;
        } catch (IllegalArgumentException refused) {
            throw usage(String.valueOf(refused.getMessage()));
        } catch (StoreException failed) {
            err.println(Json.line("Redis: " + failed.getMessage()));
            return ExitCode.SOFTWARE;
        }
    }

    private void requireSafety() {
        if (keys == null && !insecure) {
            throw usage(
                    "Who may use it? Give --keys FILE (`router new-key` makes one), or --insecure-dev on loopback.");
        }
        if (keys != null && insecure) {
            throw usage("--keys and --insecure-dev: leave one of them out.");
        }
        if (insecure && !isLoopback(host)) {
            throw usage("--insecure-dev is for loopback alone, and --host=" + host + " is reached from elsewhere.");
        }
    }

    private static boolean isLoopback(String host) {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                if (!address.isLoopbackAddress()) {
                    return false;
                }
            }
            return true;
        } catch (UnknownHostException nobody) {
            return false;
        }
    }

    private static List<String> whyNotReady(HttpRouter http) {
        try {
            return http.whyNotReady().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            return List.of("Redis has not answered within " + PATIENCE.toSeconds() + " s");
        } catch (ExecutionException failed) {
            return List.of(OneLine.of(failed));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of("the router is stopping");
        }
    }

    private JobRouter jobs(StoreConnection connection, Telemetry telemetry, Traces traces) {
        Duration deadline = Duration.ofMillis(deadlineMs);
        return JobRouter.builder()
                .redis(connection)
                .telemetry(telemetry)
                .traces(traces)
                .onFull(OnFull.FAIL) // an event loop must not block
                .deadline(deadline)
                .payloadBytes(payloadBytes)
                .createTopics(!noNewTopics)
                .durability(replicas == 0 ? Durability.MEMORY : Durability.replicas(replicas, deadline.dividedBy(2)))
                .connect();
    }

    private HttpSettings settings() {
        HttpSettings defaults = HttpSettings.defaults();
        return new HttpSettings(
                host,
                port,
                keys,
                certificate,
                privateKey,
                defaults.eventLoops(),
                payloadBytes,
                defaults.batchBytes(),
                defaults.connections(),
                connectionsPerAddress,
                defaults.requests(),
                defaults.bodyBytes(),
                Duration.ofMillis(idleMs),
                Duration.ofMillis(bodyMs));
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
