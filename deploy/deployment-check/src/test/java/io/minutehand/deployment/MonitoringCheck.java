package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Alert rules, the dashboard and the rules of the metrics adapter: their form, the metrics that they read, and the runbook that goes with them. */
final class MonitoringCheck implements Check {
    static final String ALERTS = "monitoring/alerts.yml";
    static final String DASHBOARD = "monitoring/dashboard.json";
    static final String ADAPTER = "monitoring/adapter-rules.yml";
    private static final String RUNBOOK = "README.md";
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");
    private static final Pattern ALERT_HEADING = Pattern.compile("(?m)^#+ (Minutehand[A-Z]\\w*)$");

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        List<Problem> problems = new ArrayList<>();
        problems.addAll(Findings.of(ALERTS, findings -> alerts(deploy, findings)));
        problems.addAll(Findings.of(RUNBOOK, findings -> runbook(deploy, findings)));
        problems.addAll(Findings.of(DASHBOARD, findings -> dashboard(deploy.json(DASHBOARD), findings)));
        problems.addAll(Findings.of(ADAPTER, findings -> adapter(deploy.yaml(ADAPTER), findings)));
        return problems;
    }

    /** Every expression of the alerts, by the name of its alert. */
    static Map<String, String> alertExpressions(DeployFolder deploy) {
        Map<String, String> expressions = new LinkedHashMap<>();
        deploy.yaml(ALERTS)
                .path("groups")
                .forEach(group -> group.path("rules")
                        .forEach(rule -> expressions.put(
                                rule.path("alert").asText(), rule.path("expr").asText())));
        return expressions;
    }

    /** Every expression of the dashboard, by panel. */
    static Map<String, String> panelExpressions(DeployFolder deploy) {
        Map<String, String> expressions = new LinkedHashMap<>();
        deploy.json(DASHBOARD)
                .path("panels")
                .forEach(panel -> panel.path("targets")
                        .forEach(target -> expressions.put(
                                panel.path("title").asText() + " "
                                        + target.path("refId").asText(),
                                target.path("expr").asText())));
        return expressions;
    }

    private static void alerts(DeployFolder deploy, Findings findings) {
        JsonNode document = deploy.yaml(ALERTS);
        findings.requireSchema(Schemas.named("alerts.json"), document);
        Set<String> names = new HashSet<>();
        for (JsonNode group : document.path("groups")) {
            for (JsonNode rule : group.path("rules")) {
                String name = rule.path("alert").asText();
                findings.require(names.add(name), name, "is there twice");
                MetricNames.require(findings, name, rule.path("expr").asText());
                String runbook = rule.path("annotations").path("runbook").asText();
                findings.require(
                        runbook.endsWith("#" + name.toLowerCase(Locale.ROOT)),
                        name,
                        "its runbook is %s, which is of another alert",
                        runbook);
            }
        }
    }

    private static void runbook(DeployFolder deploy, Findings findings) {
        Set<String> explained = new HashSet<>();
        Matcher headings = ALERT_HEADING.matcher(deploy.text(RUNBOOK));
        while (headings.find()) {
            explained.add(headings.group(1));
        }
        Set<String> alerts = alertExpressions(deploy).keySet();
        for (String alert : alerts) {
            findings.require(explained.contains(alert), alert, "has no heading: nobody is told what to do");
        }
        for (String heading : explained) {
            findings.require(alerts.contains(heading), heading, "there is no alert of this name");
        }
    }

    private static void dashboard(JsonNode document, Findings findings) {
        findings.requireSchema(Schemas.named("dashboard.json"), document);
        Set<Integer> ids = new HashSet<>();
        Map<String, String> cells = new LinkedHashMap<>();
        for (JsonNode panel : document.path("panels")) {
            String title = panel.path("title").asText();
            findings.require(ids.add(panel.path("id").asInt()), title, "another panel has its id %s", panel.path("id"));
            JsonNode at = panel.path("gridPos");
            for (int x = 0; x < at.path("w").asInt(); x++) {
                for (int y = 0; y < at.path("h").asInt(); y++) {
                    String other = cells.putIfAbsent(
                            (at.path("x").asInt() + x) + "," + (at.path("y").asInt() + y), title);
                    if (other != null && x + y == 0) {
                        findings.add(title, "lies on the panel %s", other);
                    }
                }
            }
            findings.require(
                    at.path("x").asInt() + at.path("w").asInt() <= 24,
                    title,
                    "is wider than the 24 columns that there are");
            for (JsonNode target : panel.path("targets")) {
                MetricNames.require(findings, title, target.path("expr").asText());
            }
        }
        for (JsonNode variable : document.path("templating").path("list")) {
            if (variable.path("type").asText().equals("query")) {
                Matcher query = LABEL_VALUES.matcher(
                        variable.path("query").path("query").asText());
                String name = "variable " + variable.path("name").asText();
                findings.require(query.matches(), name, "is not label_values(metric, label)");
                if (query.matches()) {
                    MetricNames.require(findings, name, query.group(1));
                }
            }
        }
    }

    /** Those that the adapter makes for an autoscaler. */
    static List<String> adapted(JsonNode document) {
        return document.path("rules").path("external").findValuesAsText("as");
    }

    private static void adapter(JsonNode document, Findings findings) {
        JsonNode rules = document.path("rules").path("external");
        findings.require(rules.isArray() && !rules.isEmpty(), "/rules/external", "there are no rules");
        for (JsonNode rule : rules) {
            MetricNames.require(
                    findings, "seriesQuery", rule.path("seriesQuery").asText());
            MetricNames.require(
                    findings, "metricsQuery", rule.path("metricsQuery").asText());
        }
    }
}
