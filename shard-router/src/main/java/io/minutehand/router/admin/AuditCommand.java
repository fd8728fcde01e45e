package io.minutehand.router.admin;

import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.Audit;
import io.minutehand.core.admin.Finding;
import io.minutehand.core.admin.ShardAudit;
import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.topic.StoredTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Audits topics, shard by shard, and mends. */
@Command(
        name = "audit",
        description = {
            "Checks that no job is missing.",
            "Without --deep by the counters of each shard, at once; with it by looking at every job, while everything goes on."
        },
        mixinStandardHelpOptions = true)
final class AuditCommand implements Callable<Integer> {
    /** Findings that are shown one by one, of all shards together. */
    private static final int SHOWN = 200;

    @Mixin
    private final AdminOptions options = new AdminOptions();

    @Option(names = "--deep", description = "Look at every job.")
    private boolean deep;

    @Option(
            names = "--repair",
            description = "Mend what is safe to mend, with --deep. What was mended leaves the exit status 0.")
    private boolean repair;

    @Option(names = "--topic", paramLabel = "TOPIC", description = "Only this topic; can be repeated (default all).")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--within",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "How long the audit of a shard may take (default ${DEFAULT-VALUE}).")
    private long withinSeconds;

    @Override
    public Integer call() {
        if (repair && !deep) {
            throw options.usage("--repair needs --deep");
        }
        if (withinSeconds < 1 || withinSeconds > 86_400) {
            throw options.usage("--within=" + withinSeconds + ", allowed are 1 to 86400");
        }
        return options.run((connection, admin, printer) -> {
            Audit audit = new Audit(connection);
            List<StoredTopic> topics = topics(admin);
            List<String> unreadable = only.isEmpty() ? admin.unreadableTopics() : List.of();
            if (topics.isEmpty() && unreadable.isEmpty()) {
                printer.line(
                        "no topics are declared in namespace %s: nothing was ever scheduled, or Redis came back empty and all counters start anew",
                        connection.keys().namespace());
            }
            Summary summary = new Summary(unreadable);
            for (StoredTopic topic : topics) {
                for (ShardId shard : topic.shards()) {
                    summary.add(
                            deep
                                    ? audit.deep(shard, repair, Duration.ofSeconds(withinSeconds))
                                    : audit.quick(shard, AdminOptions.PATIENCE));
                }
            }
            return summary.print(printer, deep);
        });
    }

    private List<StoredTopic> topics(Admin admin) {
        return only.isEmpty()
                ? admin.topics()
                : only.stream()
                        .distinct()
                        .map(name -> AdminOptions.topic(admin, name))
                        .toList();
    }

    /** What the shards' audits found, in all. */
    private static final class Summary {
        private final List<Map<String, Object>> shards = new ArrayList<>();

        /** Those of which there is something to say. */
        private final List<Map<String, Object>> noted = new ArrayList<>();

        private final List<Map<String, Object>> findings = new ArrayList<>();
        private long found;
        private long open;
        private long records;
        private boolean complete = true;
        private final List<String> unreadable;

        /** @param unreadable topics whose settings, and so whose shards, are not known */
        Summary(List<String> unreadable) {
            this.unreadable = unreadable;
        }

        void add(ShardAudit audit) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("topic", audit.shard().topic());
            row.put("shard", audit.shard().shard());
            row.put("difference", audit.ledger().difference());
            row.put("orphans", audit.ledger().orphans());
            row.put("pending", audit.ledger().pending());
            row.put("in_flight", audit.ledger().inFlight());
            row.put("dead", audit.ledger().dead());
            row.put("records", audit.records());
            row.put("unreadable", audit.unreadable());
            row.put("unjudged", audit.unjudged());
            row.put("open", audit.open());
            row.put("repaired", audit.repaired());
            row.put("note", note(audit));
            shards.add(row);
            boolean plain = audit.clean() && audit.complete() && audit.ledger().declared();
            if (!plain || audit.unreadable() + audit.unjudged() + audit.ledger().orphans() > 0) {
                noted.add(row);
            }
            for (Finding finding : audit.findings()) {
                if (findings.size() < SHOWN) {
                    findings.add(row(finding));
                }
            }
            found += audit.open() + audit.repaired();
            open += audit.open();
            records += audit.records();
            complete &= audit.complete();
        }

        private static String note(ShardAudit audit) {
            if (!audit.complete()) {
                return "not finished in time";
            }
            return audit.ledger().declared() ? "" : "not declared yet: its counters start anew";
        }

        private static Map<String, Object> row(Finding finding) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("topic", finding.shard().topic());
            row.put("shard", finding.shard().shard());
            row.put("kind", finding.kind().name());
            row.put("subject", finding.subject());
            row.put("repaired", finding.repaired());
            row.put("meaning", finding.kind().text());
            return row;
        }

        int print(Printer printer, boolean deep) {
            // An audit of nothing is none: the namespace may be misspelt.
            boolean fine = open == 0 && complete && unreadable.isEmpty() && !shards.isEmpty();
            printer.put("deep", deep);
            printer.put("complete", complete);
            printer.put("open", open);
            printer.put("repaired", found - open);
            printer.put("unreadable_topics", unreadable);
            unreadable.forEach(topic -> printer.line(
                    "topic %s was not audited: its settings cannot be read, they are of a newer version or were changed by hand",
                    topic));
            printer.put("shards", shards);
            printer.table(noted);
            if (!findings.isEmpty()) {
                printer.line("");
            }
            printer.rows("findings", findings);
            if (found > findings.size()) {
                printer.line("... and %d more", found - findings.size());
            }
            printer.line(
                    "%s: %d shards, %s%d findings, %d of them repaired%s",
                    fine ? (found == 0 ? "fine" : "mended") : "NOT fine",
                    shards.size(),
                    deep ? records + " records, " : "",
                    found,
                    found - open,
                    complete ? "" : ", not finished in time");
            return fine ? AdminOptions.FINE : AdminOptions.AMISS;
        }
    }
}
