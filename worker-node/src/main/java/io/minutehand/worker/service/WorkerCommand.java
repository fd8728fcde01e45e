package io.minutehand.worker.service;

import io.minutehand.core.command.AdminArguments;
import io.minutehand.core.command.AdminService;
import io.minutehand.core.command.RedisArguments;
import io.minutehand.core.job.TopicName;
import io.minutehand.core.service.OneLine;
import io.minutehand.core.service.StopSignal;
import io.minutehand.core.store.RedisOptions;
import io.minutehand.core.store.StoreException;
import io.minutehand.core.telemetry.OpenTelemetryTraces;
import io.minutehand.core.telemetry.Traces;
import io.minutehand.worker.WorkerNode;
import io.minutehand.worker.webhook.HostPort;
import io.minutehand.worker.webhook.Secret;
import io.minutehand.worker.webhook.WebhookSettings;
import io.minutehand.worker.webhook.Webhooks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code worker} command. */
@Command(
        name = "worker",
        description = "Runs due jobs: delivers those of the topics named to URLs, as signed webhooks.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        subcommands = NewSecretCommand.class,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "130, 143:stopped by a signal, in good order: what ran was finished or handed back",
            "1:it could not start",
            "2:the options are wrong"
        })
public final class WorkerCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Mixin
    private RedisArguments redis = new RedisArguments();

    @Mixin
    private AdminArguments admin = new AdminArguments();

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "Display name in logs and `admin nodes` (default: worker-, and the process id).")
    private @Nullable String name;

    @Option(
            names = "--slots",
            paramLabel = "N",
            defaultValue = "64",
            description = "Deliveries at once (default ${DEFAULT-VALUE}).")
    private int slots;

    @Option(
            names = "--webhook",
            paramLabel = "TOPIC=URL",
            description = "Where jobs of a topic are delivered; once for each topic.")
    private List<String> webhooks = new ArrayList<>();

    @Option(
            names = "--webhook-secrets",
            paramLabel = "FILE",
            defaultValue = "${env:MINUTEHAND_WEBHOOK_SECRETS}",
            showDefaultValue = Visibility.NEVER,
            description = {
                "Secrets that sign, one a line, 4 at most, as `worker new-secret` prints them; while one takes the place of",
                "another, both sign (environment MINUTEHAND_WEBHOOK_SECRETS)."
            })
    private @Nullable Path secrets;

    @Option(
            names = "--webhook-allow",
            paramLabel = "HOST:PORT",
            description = {
                "May be reached although it is not public, not on port 443, or has no TLS; once for each. Whoever may name URLs",
                "reaches it."
            })
    private List<String> allowed = new ArrayList<>();

    @Option(
            names = "--webhook-timeout",
            paramLabel = "MS",
            defaultValue = "10000",
            description = "How long a delivery may take (default ${DEFAULT-VALUE}).")
    private long timeoutMs;

    @Option(
            names = "--webhook-per-host",
            paramLabel = "N",
            defaultValue = "32",
            description =
                    "Deliveries to one host at once; fewer than --slots leave some to others (default ${DEFAULT-VALUE}).")
    private int perHost;

    @Option(
            names = "--webhook-trust",
            paramLabel = "FILE",
            description = "PEM: certificates to trust instead of the platform's.")
    private @Nullable Path trust;

    /** The command. */
    public WorkerCommand() {}

    /** Works until the process is told to stop. */
    @Override
    public Integer call() throws InterruptedException {
        RedisOptions options = redis.options();
        Map<String, String> urls = urls();
        Traces traces = OpenTelemetryTraces.global();
        try (StopSignal signal = StopSignal.listen();
                AdminService watched = admin.open();
                Webhooks client = Webhooks.open(settings(), traces);
                WorkerNode node = node(options, client, urls)
                        .telemetry(watched.telemetry())
                        .traces(traces)
                        .start()) {
            NodeMeters meters = new NodeMeters(node, watched.registry());
            watched.serve(meters::whyNotReady, meters::look);
            spec.commandLine()
                    .getOut()
                    .printf(
                            "minutehand worker %s delivers jobs of %s%n",
                            node.name(), String.join(", ", urls.keySet()));
            spec.commandLine().getOut().flush();
            signal.await();
            return ExitCode.OK;
        } catch (IllegalArgumentException refused) {
            throw usage(String.valueOf(refused.getMessage()));
        } catch (StoreException failed) {
            spec.commandLine().getErr().println("Redis: " + OneLine.of(failed.getMessage()));
            return ExitCode.SOFTWARE;
        } catch (UncheckedIOException failed) {
            spec.commandLine().getErr().println(OneLine.of(failed.getMessage()));
            return ExitCode.SOFTWARE;
        }
    }

    private WorkerNode.Builder node(RedisOptions options, Webhooks client, Map<String, String> urls) {
        WorkerNode.Builder builder = WorkerNode.builder()
                .redis(options)
                .slots(slots)
                .name(name == null ? "worker-" + ProcessHandle.current().pid() : name);
        urls.forEach((topic, url) -> {
            try {
                builder.handle(topic, client.to(url));
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException(
                        "--webhook of topic " + topic + ": " + refused.getMessage(), refused);
            }
        });
        return builder;
    }

    private Map<String, String> urls() {
        Map<String, String> urls = new LinkedHashMap<>();
        for (String webhook : webhooks) {
            int equals = webhook.indexOf('=');
            if (equals < 1) {
                throw usage("--webhook wants TOPIC=URL, for example orders=https://shop.example.com/hooks/orders");
            }
            String topic = webhook.substring(0, equals);
            try {
                TopicName.require(topic);
            } catch (IllegalArgumentException refused) {
                throw usage("--webhook: " + refused.getMessage());
            }
            if (urls.putIfAbsent(topic, webhook.substring(equals + 1)) != null) {
                throw usage("--webhook names topic " + topic + " twice");
            }
        }
        if (urls.isEmpty()) {
            throw usage("What shall it do? Give --webhook TOPIC=URL.");
        }
        return urls;
    }

    private WebhookSettings settings() {
        if (secrets == null) {
            throw usage("What signs the webhooks? Give --webhook-secrets FILE; `worker new-secret > FILE` makes one.");
        }
        List<Secret> keys;
        try {
            keys = Files.readAllLines(secrets).stream()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(Secret::of)
                    .toList();
        } catch (IOException e) {
            throw usage("--webhook-secrets: " + secrets + " cannot be read: " + e);
        } catch (IllegalArgumentException refused) {
            throw usage("--webhook-secrets: " + refused.getMessage());
        }
        if (keys.isEmpty()) {
            throw usage("--webhook-secrets: there is no secret in " + secrets);
        }
        Duration timeout = Duration.ofMillis(timeoutMs);
        WebhookSettings settings = WebhookSettings.signedBy(keys.get(0))
                .withSecrets(keys)
                .withAllowed(Set.copyOf(allowed.stream().map(HostPort::of).toList()))
                .withPerHost(perHost);
        Duration connect = settings.connectTimeout().compareTo(timeout) < 0 ? settings.connectTimeout() : timeout;
        settings = settings.withTimeouts(connect, timeout);
        return trust == null ? settings : settings.withTrust(trust);
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
