package io.minutehand.router.admin;

import io.minutehand.core.admin.Admin.JobView;
import io.minutehand.core.job.Job;
import io.minutehand.core.job.JobStatus;
import io.minutehand.core.job.Limits;
import io.minutehand.core.store.MoveOutcome;
import io.minutehand.core.topic.StoredTopic;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Single jobs. */
@Command(
        name = "job",
        description = "Shows, cancels or moves a job.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND")
final class JobCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Which command? See below.");
    }

    @Command(name = "show", description = "Shows what is stored of a job.", mixinStandardHelpOptions = true)
    int show(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--payload", description = "With its payload, which may be private.") boolean payload) {
        return options.run((connection, admin, printer) -> {
            JobView view = admin.job(AdminOptions.topic(admin, topic), id).orElse(null);
            if (view == null) {
                throw new AdminOptions.Refusal(
                        "topic " + topic + " has no job " + id + ", or it ended and its tombstone is gone");
            }
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("topic", topic);
            fields.put("id", id);
            fields.put("state", view.status().state().name());
            if (view.node() != null) {
                fields.put("node", view.node());
            }
            putJob(fields, view.status(), payload);
            printer.fields(fields);
            return AdminOptions.FINE;
        });
    }

    private static void putJob(Map<String, Object> fields, JobStatus status, boolean payload) {
        Job job = status.job();
        if (job != null) {
            putJob(fields, job, payload);
        }
    }

    /** What is stored of a job; its payload as text if it is, else in base 64. */
    static void putJob(Map<String, Object> fields, Job job, boolean payload) {
        if (job.businessId() != null) {
            fields.put("business_id", job.businessId());
        }
        fields.put("due", job.dueAt().toString());
        fields.put("created", job.createdAt().toString());
        fields.put("attempt", job.attempt());
        fields.put("delivery", job.delivery());
        fields.put("last_failure", job.lastFailure() == null ? "" : job.lastFailure());
        fields.put("headers", payload ? job.headers() : job.headers().keySet());
        fields.put("bytes", job.payload().length);
        if (payload) {
            String text = new String(job.payload(), StandardCharsets.UTF_8);
            boolean isText = text.indexOf('\ufffd') < 0;
            fields.put(
                    isText ? "payload" : "payload_base64",
                    isText ? text : Base64.getEncoder().encodeToString(job.payload()));
        }
    }

    @Command(name = "cancel", description = "Ends a job that still waits.", mixinStandardHelpOptions = true)
    int cancel(
            @Mixin AdminOptions options,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(paramLabel = "ID") String id) {
        return options.run((connection, admin, printer) -> {
            MoveOutcome outcome = admin.cancel(AdminOptions.topic(admin, topic), id);
            return told(printer, outcome, outcome.status() == MoveOutcome.Status.CANCELLED, "");
        });
    }

    /** When a job shall run. */
    static final class When {
        @Option(
                names = "--at",
                paramLabel = "TIME",
                description = "At this time, such as 2030-01-31T09:00:00Z; one that has passed means now.")
        private @Nullable String at;

        @Option(names = "--in", paramLabel = "SECONDS", description = "So many seconds from now on.")
        private @Nullable Long in;

        @Option(names = "--now", description = "Now.")
        private boolean now;
    }

    @Command(name = "reschedule", description = "Moves a job that still waits.", mixinStandardHelpOptions = true)
    int reschedule(
            @Mixin AdminOptions options,
            @ArgGroup(multiplicity = "1") When when,
            @Parameters(paramLabel = "TOPIC") String topic,
            @Parameters(paramLabel = "ID") String id) {
        return options.run((connection, admin, printer) -> {
            StoredTopic stored = AdminOptions.topic(admin, topic);
            Instant due = dueOf(when, admin.now(stored, id));
            MoveOutcome outcome = admin.reschedule(stored, id, due);
            return told(printer, outcome, outcome.status() == MoveOutcome.Status.MOVED, due.toString());
        });
    }

    private static Instant dueOf(When when, Instant now) {
        Instant due = now;
        try {
            if (when.at != null) {
                due = Instant.parse(when.at);
            } else if (when.in != null) {
                due = now.plusSeconds(when.in);
            }
        } catch (DateTimeException | ArithmeticException unreadable) {
            throw new IllegalArgumentException(
                    (when.at != null ? "--at=" + when.at + " is no time" : "--in=" + when.in + " leads to no time")
                            + ", such as 2030-01-31T09:00:00Z",
                    unreadable);
        }
        if (due.isBefore(now)) {
            return now;
        }
        if (Duration.between(now, due).compareTo(Limits.HORIZON) > 0) {
            throw new IllegalArgumentException(
                    "due " + due + " is more than " + Limits.HORIZON.toDays() + " days ahead, which is the limit");
        }
        return due;
    }

    private static int told(Printer printer, MoveOutcome outcome, boolean done, String due) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("result", outcome.status().name());
        if (outcome.state() != null) {
            fields.put("state", outcome.state().name());
        }
        if (done && !due.isEmpty()) {
            fields.put("due", due);
        }
        printer.fields(fields);
        return done ? AdminOptions.FINE : AdminOptions.AMISS;
    }
}
