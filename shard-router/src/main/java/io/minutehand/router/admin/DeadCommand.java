package io.minutehand.router.admin;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.DeadLetters;
import io.minutehand.core.admin.DeadLetters.DeadLetter;
import io.minutehand.core.admin.DeadLetters.Result;
import io.minutehand.core.admin.DeadLetters.Selector;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Dead letters. */
@Command(
        name = "dead",
        description = "Shows dead letters, gives them another life, or forgets them.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND")
final class DeadCommand implements Runnable {
    private static final int MOST_LISTED = 10_000;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Which command? See below.");
    }

    private static DeadLetters letters(Admin admin, String topic) {
        return admin.deadLetters(AdminOptions.topic(admin, topic));
    }

    @Command(
            name = "list",
            description = "Lists dead letters, shard by shard, the oldest of each first.",
            mixinStandardHelpOptions = true)
    int list(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Those whose reason contains this.")
                    @Nullable
                    String reason,
            @Option(
                            names = "--skip",
                            paramLabel = "N",
                            defaultValue = "0",
                            description = "Leave out so many at the front.")
                    int skip,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "50",
                            description = "So many at most, 1 to 10,000 (default ${DEFAULT-VALUE}).")
                    int limit) {
        return options.run((connection, admin, printer) -> {
            if (skip < 0 || limit < 1 || limit > MOST_LISTED) {
                throw new IllegalArgumentException(
                        "--skip=" + skip + " --limit=" + limit + ", allowed are 0 or more and 1 to " + MOST_LISTED);
            }
            List<Map<String, Object>> rows = new ArrayList<>();
            boolean[] more = new boolean[1];
            int[] seen = new int[1];
            letters(admin, topic).forEach(new Selector(null, reason), letter -> {
                more[0] = rows.size() == limit;
                if (!more[0] && seen[0]++ >= skip) {
                    rows.add(row(letter));
                }
                return !more[0];
            });
            printer.rows("dead", rows);
            printer.put("more", more[0]);
            if (rows.isEmpty()) {
                printer.line("no dead letters");
            } else if (more[0]) {
                printer.line("there are more; --skip=%d shows the next", skip + limit);
            }
            return AdminOptions.FINE;
        });
    }

    private static Map<String, Object> row(DeadLetter letter) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", letter.id());
        row.put("shard", letter.shard().shard());
        row.put("died", letter.diedAt().toString());
        row.put("attempt", letter.letter().attempt());
        row.put("record_bytes", letter.letter().bytes());
        row.put("reason", letter.letter().readable() ? letter.letter().reason() : "(its record cannot be read)");
        return row;
    }

    @Command(name = "show", description = "Shows a dead letter.", mixinStandardHelpOptions = true)
    int show(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--payload", description = "With its payload, which may be private.") boolean payload) {
        return options.run((connection, admin, printer) -> {
            DeadLetters letters = letters(admin, topic);
            DeadLetter letter = letters.find(id).orElse(null);
            if (letter == null) {
                throw new AdminOptions.Refusal("topic " + topic + " has no dead letter " + id);
            }
            Map<String, Object> fields = row(letter);
            Job job = letter.letter().readable() ? letters.job(letter).orElse(null) : null;
            if (job != null) {
                JobCommand.putJob(fields, job, payload);
            }
            printer.fields(fields);
            return AdminOptions.FINE;
        });
    }

    /** Which letters a command is about: one of the three. */
    static final class Which {
        @Parameters(index = "0", paramLabel = "TOPIC")
        @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
        private String topic;

        @Parameters(index = "1", arity = "0..1", paramLabel = "ID", description = "The dead letter of this job.")
        private @Nullable String id;

        @Option(names = "--reason", paramLabel = "TEXT", description = "Those whose reason contains this.")
        private @Nullable String reason;

        @Option(names = "--all", description = "All of the topic.")
        private boolean all;

        Selector selector() {
            if ((id == null ? 0 : 1) + (reason == null ? 0 : 1) + (all ? 1 : 0) != 1) {
                throw new IllegalArgumentException("Which letters? Give one of ID, --reason and --all.");
            }
            if (reason != null && reason.isBlank()) {
                // An unset variable of a shell, most likely; every reason contains it.
                throw new IllegalArgumentException("--reason is blank, which all letters match; --all names all.");
            }
            return id != null ? Selector.ofId(id) : new Selector(null, reason);
        }
    }

    /** How many at once, and how long. */
    static final class Pace {
        @Option(
                names = "--rate",
                paramLabel = "N",
                defaultValue = "100",
                description = "So many a second at most (default ${DEFAULT-VALUE}).")
        private double rate;

        @Option(
                names = "--within",
                paramLabel = "SECONDS",
                defaultValue = "3600",
                description = "How long it may take in all (default ${DEFAULT-VALUE}).")
        private long withinSeconds;

        @Option(names = "--yes", description = "Do it: without this, --reason and --all only count.")
        private boolean yes;

        private Duration within() {
            if (!(rate > 0) || withinSeconds < 1 || withinSeconds > 86_400) {
                throw new IllegalArgumentException(
                        "--rate=" + rate + " --within=" + withinSeconds + ", allowed are more than 0 and 1 to 86400");
            }
            return Duration.ofSeconds(withinSeconds);
        }
    }

    @Command(
            name = "redrive",
            description = "Gives dead letters another life: first attempt, due now.",
            mixinStandardHelpOptions = true)
    int redrive(
            @Mixin AdminOptions options,
            @Mixin Pace pace,
            @Mixin Which which,
            @Option(
                            names = "--payload-file",
                            paramLabel = "FILE",
                            description = "With the content of this file as its payload; for one ID.")
                    @Nullable
                    Path payload) {
        return options.run((connection, admin, printer) -> {
            DeadLetters letters = letters(admin, which.topic);
            if (payload == null) {
                return act(printer, letters, which, pace, "redrive", "redriven", letters::redrive);
            }
            String id = which.selector().id();
            if (id == null) {
                throw new IllegalArgumentException("--payload-file is for one ID, not for --reason or --all");
            }
            byte[] bytes = read(payload);
            boolean done = letters.find(id)
                    .map(letter -> letters.redriveEdited(letter, bytes))
                    .orElse(false);
            return told(printer, "redriven", new Result(done ? 1 : 0, done ? 0 : 1, true));
        });
    }

    private static byte[] read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(Limits.PAYLOAD_BYTES_CEILING + 1);
            if (bytes.length > Limits.PAYLOAD_BYTES_CEILING) {
                throw new IllegalArgumentException(
                        file + " has more than the " + Limits.PAYLOAD_BYTES_CEILING + " bytes that a payload may have");
            }
            return bytes;
        } catch (IOException unreadable) {
            throw new IllegalArgumentException("cannot read " + file + ": " + unreadable, unreadable);
        }
    }

    @Command(name = "purge", description = "Forgets dead letters for good.", mixinStandardHelpOptions = true)
    int purge(@Mixin AdminOptions options, @Mixin Pace pace, @Mixin Which which) {
        return options.run((connection, admin, printer) -> {
            DeadLetters letters = letters(admin, which.topic);
            return act(printer, letters, which, pace, "purge", "purged", letters::purge);
        });
    }

    private interface Act {
        Result on(Selector selector, double perSecond, Duration within);
    }

    private static int act(
            Printer printer, DeadLetters letters, Which which, Pace pace, String verb, String participle, Act act) {
        Selector selector = which.selector();
        Duration within = pace.within();
        if (which.id == null) {
            long count = letters.count(selector);
            printer.put("matching", count);
            printer.line("%d dead letters match", count);
            if (!pace.yes) {
                printer.put(participle, 0);
                printer.line("nothing was done; add --yes to %s them", verb);
                return AdminOptions.AMISS;
            }
        }
        Result result = act.on(selector, pace.rate, within);
        boolean none = which.id != null && result.done() + result.missed() == 0;
        return told(printer, participle, none ? new Result(0, 1, true) : result);
    }

    private static int told(Printer printer, String participle, Result result) {
        printer.put(participle, result.done());
        printer.put("missed", result.missed());
        printer.put("complete", result.complete());
        printer.line(
                "%d %s%s%s",
                result.done(),
                participle,
                result.missed() == 0 ? "" : ", " + result.missed() + " were no dead letters any more or cannot be read",
                result.complete() ? "" : ", the others had no time");
        return result.missed() == 0 && result.complete() ? AdminOptions.FINE : AdminOptions.AMISS;
    }
}
