package io.minutehand.deployment;

import io.minutehand.router.http.RouterCommand;
import io.minutehand.worker.service.WorkerCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * How a file starts a service: the arguments, as the service itself would take them (its own picocli model), without starting it. An option that does
 * not exist, a value of the wrong type and an option that is given twice are refused as they would be at the start.
 */
final class ServiceCall {
    private final String service;
    private final CommandLine command;

    private ServiceCall(String service, CommandLine command) {
        this.service = service;
        this.command = command;
    }

    static CommandLine command(String service) {
        return switch (service) {
            case "router" -> new CommandLine(new RouterCommand());
            case "worker" -> new CommandLine(new WorkerCommand());
            default -> throw new IllegalArgumentException("there is no service " + service);
        };
    }

    /**
     * @param arguments from the name of the service on
     * @param settings what stands in a file that an {@code @file} argument names: its text, or nothing of a secret. Tells of a file that is not there itself
     */
    static Optional<ServiceCall> parse(
            List<String> arguments, Function<String, Optional<String>> settings, Findings findings, String where) {
        if (arguments.isEmpty() || !List.of("router", "worker").contains(arguments.get(0))) {
            findings.add(where, "starts neither router nor worker but %s", arguments);
            return Optional.empty();
        }
        String service = arguments.get(0);
        List<String> all = new ArrayList<>();
        for (String argument : arguments.subList(1, arguments.size())) {
            if (argument.startsWith("@")) {
                settings.apply(argument.substring(1)).ifPresent(text -> all.addAll(lines(text)));
            } else {
                all.add(argument);
            }
        }
        CommandLine command = command(service);
        try {
            command.parseArgs(all.toArray(new String[0]));
        } catch (ParameterException refused) {
            findings.add(where, "%s refuses its arguments: %s", service, refused.getMessage());
            return Optional.empty();
        }
        ServiceCall call = new ServiceCall(service, command);
        call.requireWhole(findings, where);
        return Optional.of(call);
    }

    /** The arguments in a file of settings. */
    static List<String> lines(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    private void requireWhole(Findings findings, String where) {
        List<String> needed = service.equals("router") ? List.of("--keys") : List.of("--webhook", "--webhook-secrets");
        for (String option : needed) {
            findings.require(given(option), where, "%s starts with %s only", service, option);
        }
        // A password in an argument is read by everybody who may list processes.
        findings.require(
                !given("--redis"),
                where,
                "--redis belongs into a file of its own that is named with @, not among the arguments");
        findings.require(given("--admin-port"), where, "without --admin-port nobody sees how %s is", service);
    }

    private boolean given(String option) {
        return command.getParseResult().hasMatchedOption(option);
    }

    String service() {
        return service;
    }

    int adminPort() {
        Integer port = command.getCommandSpec().findOption("--admin-port").getValue();
        return port == null ? -1 : port;
    }

    /** The port of the API; nothing for a worker. */
    Optional<Integer> apiPort() {
        return Optional.ofNullable(command.getCommandSpec().findOption("--port"))
                .map(OptionSpec::getValue);
    }

    /** All that it listens on. */
    List<Integer> ports() {
        return Stream.concat(apiPort().stream(), Stream.of(adminPort())).toList();
    }

    String option(String name) {
        Object value = command.getCommandSpec().findOption(name).getValue();
        return value == null ? "" : value.toString();
    }

    /** That others than its own host reach it. */
    void requireReachable(Findings findings, String where) {
        for (String host : service.equals("router") ? List.of("--host", "--admin-host") : List.of("--admin-host")) {
            findings.require(
                    option(host).equals("0.0.0.0"),
                    where,
                    "%s=%s: in a container it must be 0.0.0.0 to be reached",
                    host,
                    option(host));
        }
    }
}
