package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The Compose file, with what it mounts and with the configuration of its Prometheus and Grafana. */
final class ComposeCheck implements Check {
    static final String FILE = "compose/compose.yaml";
    private static final String PROMETHEUS = "compose/prometheus.yml";
    private static final String DATASOURCES = "compose/grafana/datasources.yml";
    private static final String FOLDER = "compose/";
    private static final String SECRETS = "/run/secrets/";

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        Map<String, ServiceCall> calls = new LinkedHashMap<>();
        List<Problem> problems = new ArrayList<>();
        problems.addAll(Findings.of(FILE, findings -> compose(deploy, findings, calls)));
        problems.addAll(Findings.of(PROMETHEUS, findings -> prometheus(deploy, findings, calls)));
        problems.addAll(Findings.of(DATASOURCES, findings -> grafana(deploy, findings)));
        return problems;
    }

    /** The arguments with which a service is started, from its name on. */
    static List<String> command(DeployFolder deploy, String service) {
        return texts(deploy.yaml(FILE).path("services").path(service).path("command"));
    }

    static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private static void compose(DeployFolder deploy, Findings findings, Map<String, ServiceCall> calls) {
        JsonNode document = deploy.yaml(FILE);
        findings.requireSchema(Schemas.named("compose-spec/compose-spec.json"), document);
        JsonNode services = document.path("services");
        services.properties().forEach(entry -> {
            String where = "/services/" + entry.getKey();
            JsonNode service = entry.getValue();
            findings.requirePinned(where, service.path("image").asText());
            references(document, service, where, findings);
            Map<String, String> mounts = mounts(deploy, service, where, findings);
            findings.require(
                    texts(service.path("cap_drop")).contains("ALL"), where, "keeps capabilities: cap_drop ALL");
            environment(service, where, findings);
            for (String port : texts(service.path("ports"))) {
                findings.require(
                        port.matches("127\\.0\\.0\\.1:\\d+:\\d+"), where, "port %s is open to every network", port);
            }
            if (service.path("image").asText().startsWith("minutehand:")) {
                ours(deploy, service, where, mounts, findings).ifPresent(call -> calls.put(entry.getKey(), call));
            }
        });
        long routers = calls.values().stream()
                .filter(call -> call.service().equals("router"))
                .count();
        findings.require(
                routers >= 2, "/services", "%d routers: one alone cannot be replaced while producers call", routers);
        int workers = services.path("worker").path("deploy").path("replicas").asInt(1);
        findings.require(workers >= 2, "/services/worker", "%d workers: nobody takes over", workers);
    }

    private static Optional<ServiceCall> ours(
            DeployFolder deploy, JsonNode service, String where, Map<String, String> mounts, Findings findings) {
        findings.require(service.path("read_only").asBoolean(), where, "its file system is not read-only");
        StopTimes.require(
                findings,
                where + "/stop_grace_period",
                service.path("stop_grace_period").asText(),
                0);
        Set<String> secrets = new TreeSet<>(texts(service.path("secrets")));
        Optional<ServiceCall> parsed = ServiceCall.parse(
                texts(service.path("command")),
                file -> settings(deploy, file, secrets, mounts, where, findings),
                findings,
                where + "/command");
        parsed.ifPresent(call -> {
            call.requireReachable(findings, where + "/command");
            for (String option : call.service().equals("router") ? List.of("--keys") : List.of("--webhook-secrets")) {
                String file = call.option(option);
                findings.require(
                        file.startsWith(SECRETS) && secrets.contains(file.substring(SECRETS.length())),
                        where + "/command",
                        "%s=%s is no secret of this service",
                        option,
                        file);
            }
            for (String port : texts(service.path("ports"))) {
                int inside = Integer.parseInt(port.substring(port.lastIndexOf(':') + 1));
                findings.require(
                        call.apiPort().equals(Optional.of(inside)),
                        where + "/ports",
                        "%s leads to port %d, and the API listens on %s",
                        port,
                        inside,
                        call.apiPort());
            }
            int asked = DockerfileCheck.healthPort(deploy);
            findings.require(
                    call.adminPort() == asked,
                    where + "/command",
                    "--admin-port=%d, and the health check of the image asks %d",
                    call.adminPort(),
                    asked);
        });
        return parsed;
    }

    /** The text of a file that an argument names; nothing for a secret. */
    private static Optional<String> settings(
            DeployFolder deploy,
            String file,
            Set<String> secrets,
            Map<String, String> mounts,
            String where,
            Findings findings) {
        if (file.startsWith(SECRETS) && secrets.contains(file.substring(SECRETS.length()))) {
            return Optional.empty();
        }
        String source = mounts.get(file);
        if (source == null) {
            findings.add(where + "/command", "@%s is neither a secret of this service nor mounted", file);
            return Optional.empty();
        }
        return Optional.of(deploy.text(source));
    }

    /** That what a service names is there: secrets, networks, volumes, other services. */
    private static void references(JsonNode document, JsonNode service, String where, Findings findings) {
        for (String kind : List.of("secrets", "networks")) {
            for (String name : texts(service.path(kind))) {
                findings.require(document.path(kind).has(name), where, "%s: there is no %s", kind, name);
            }
        }
        service.path("depends_on")
                .fieldNames()
                .forEachRemaining(name -> findings.require(
                        document.path("services").has(name), where, "depends_on: there is no service %s", name));
        for (String volume : texts(service.path("volumes"))) {
            String source = volume.substring(0, volume.indexOf(':'));
            findings.require(
                    source.startsWith(".") || document.path("volumes").has(source),
                    where,
                    "there is no volume %s",
                    source);
        }
    }

    /** Files of ours that it mounts: by their place in the container. */
    private static Map<String, String> mounts(DeployFolder deploy, JsonNode service, String where, Findings findings) {
        Map<String, String> mounts = new LinkedHashMap<>();
        for (String volume : texts(service.path("volumes"))) {
            String[] parts = volume.split(":", -1);
            if (parts[0].startsWith(".")) {
                String source = parts[0].startsWith("../")
                        ? parts[0].substring("../".length())
                        : FOLDER + parts[0].substring("./".length());
                findings.require(deploy.has(source), where + "/volumes", "there is no file deploy/%s", source);
                findings.require(volume.endsWith(":ro"), where + "/volumes", "%s can be written to", volume);
                mounts.put(parts[1], source);
            }
        }
        return mounts;
    }

    /** The environment of a process is read by whoever may inspect it. */
    private static void environment(JsonNode service, String where, Findings findings) {
        service.path("environment").properties().forEach(variable -> {
            String name = variable.getKey();
            boolean secret = name.contains("PASSWORD") || name.contains("SECRET") || name.equals("MINUTEHAND_REDIS");
            findings.require(
                    !secret || variable.getValue().asText().startsWith(SECRETS),
                    where + "/environment",
                    "%s is a secret: give a file of %s",
                    name,
                    SECRETS);
        });
    }

    private static void prometheus(DeployFolder deploy, Findings findings, Map<String, ServiceCall> calls) {
        JsonNode document = deploy.yaml(PROMETHEUS);
        findings.requireSchema(Schemas.named("prometheus.json"), document);
        JsonNode prometheus = deploy.yaml(FILE).path("services").path("prometheus");
        List<String> mounted = texts(prometheus.path("volumes"));
        for (String rules : texts(document.path("rule_files"))) {
            findings.require(
                    mounted.contains("../" + MonitoringCheck.ALERTS + ":" + rules + ":ro"),
                    "/rule_files",
                    "%s is not where compose.yaml mounts the alerts",
                    rules);
        }
        Set<String> scraped = new TreeSet<>();
        for (JsonNode job : document.path("scrape_configs")) {
            String where = job.path("job_name").asText();
            for (JsonNode list : job.path("static_configs")) {
                for (String target : texts(list.path("targets"))) {
                    String[] hostPort = target.split(":", -1);
                    scraped.add(hostPort[0]);
                    target(where, hostPort[0], Integer.parseInt(hostPort[1]), calls, findings);
                }
            }
            for (JsonNode list : job.path("dns_sd_configs")) {
                for (String name : texts(list.path("names"))) {
                    scraped.add(name);
                    target(where, name, list.path("port").asInt(), calls, findings);
                }
            }
        }
        findings.require(
                scraped.equals(new TreeSet<>(calls.keySet())),
                "/scrape_configs",
                "scrapes %s, and the services are %s",
                scraped,
                calls.keySet());
    }

    private static void target(String job, String host, int port, Map<String, ServiceCall> calls, Findings findings) {
        ServiceCall call = calls.get(host);
        if (call == null) {
            findings.add(job, "compose.yaml has no service %s", host);
            return;
        }
        findings.require(job.equals("minutehand-" + call.service()), job, "%s is a %s", host, call.service());
        findings.require(
                call.adminPort() == port,
                job,
                "%s:%d is not the admin port, which is %d",
                host,
                port,
                call.adminPort());
    }

    private static void grafana(DeployFolder deploy, Findings findings) {
        JsonNode services = deploy.yaml(FILE).path("services");
        for (JsonNode source : deploy.yaml(DATASOURCES).path("datasources")) {
            String url = source.path("url").asText();
            findings.require(
                    url.matches("http://\\w+:9090") && services.has(url.replaceAll("^http://|:\\d+$", "")),
                    source.path("name").asText(),
                    "%s is not the Prometheus of compose.yaml",
                    url);
        }
    }
}
