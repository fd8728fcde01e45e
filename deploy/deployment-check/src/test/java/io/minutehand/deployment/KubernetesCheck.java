package io.minutehand.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The Kustomize base and its overlays: each object by the schema of its kind, and what one says of another: ports, selectors, mounts, metrics, the arguments
 * of the services, and who may reach which port. Where kubectl is installed, a test has it build the overlays, too.
 */
final class KubernetesCheck implements Check {
    static final String OVERLAYS = "kubernetes/overlays";
    private static final String BASE = "kubernetes/base";
    private static final String NAME_LABEL = "app.kubernetes.io/name";
    private static final String MONITORING_LABEL = "kubernetes.io/metadata.name";
    private static final int REDIS_PORT = 6379;

    /** An object of a file. */
    private record Item(String file, JsonNode node) {
        String kind() {
            return node.path("kind").asText();
        }

        String name() {
            return node.path("metadata").path("name").asText();
        }

        String where() {
            return kind() + " " + name();
        }

        boolean runsPods() {
            return node.path("spec").path("template").has("spec");
        }

        JsonNode pod() {
            return node.path("spec").path("template").path("spec");
        }
    }

    /** A base and an overlay together, as they are applied. */
    private static final class Whole {
        private final DeployFolder deploy;
        private final String overlay;
        private final List<Item> items;
        private final List<Problem> problems = new ArrayList<>();

        Whole(DeployFolder deploy, String overlay, List<Item> items) {
            this.deploy = deploy;
            this.overlay = overlay;
            this.items = items;
        }

        void in(Item item, Consumer<Findings> look) {
            problems.addAll(Findings.of(item.file(), look));
        }

        List<Item> of(String kind) {
            return items.stream().filter(item -> item.kind().equals(kind)).toList();
        }

        List<Item> workloads() {
            return items.stream().filter(Item::runsPods).toList();
        }

        List<Item> selected(JsonNode selector) {
            return workloads().stream().filter(item -> selects(selector, item)).toList();
        }
    }

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        List<Problem> problems = new ArrayList<>();
        List<Item> base = items(deploy, BASE, problems);
        for (String overlay : deploy.folders(OVERLAYS)) {
            List<Item> all = new ArrayList<>(base);
            all.addAll(items(deploy, overlay, problems));
            Whole whole = new Whole(deploy, overlay, all);
            crossCheck(whole);
            problems.addAll(whole.problems);
        }
        return problems.stream().distinct().toList();
    }

    /** The objects of a folder, each held against the schema of its kind; what is not listed in the kustomization would not be applied. */
    private static List<Item> items(DeployFolder deploy, String folder, List<Problem> problems) {
        List<Item> items = new ArrayList<>();
        String kustomization = folder + "/kustomization.yaml";
        Set<String> listed = new HashSet<>();
        problems.addAll(Findings.of(kustomization, findings -> {
            JsonNode document = deploy.yaml(kustomization);
            findings.requireSchema(Schemas.named("kustomization.json"), document);
            for (String resource : ComposeCheck.texts(document.path("resources"))) {
                listed.add(resource);
                boolean there = resource.startsWith("..")
                        ? deploy.has(Path.of(folder, resource, "kustomization.yaml")
                                .normalize()
                                .toString())
                        : deploy.has(folder + "/" + resource);
                findings.require(there, "/resources", "there is no %s", resource);
            }
            for (JsonNode generator : document.path("configMapGenerator")) {
                for (String file : ComposeCheck.texts(generator.path("files"))) {
                    findings.require(deploy.has(folder + "/" + file), "/configMapGenerator", "there is no %s", file);
                }
            }
        }));
        for (String file : deploy.files(folder, ".yaml")) {
            if (file.equals(kustomization)) {
                continue;
            }
            problems.addAll(Findings.of(file, findings -> {
                findings.require(
                        listed.contains(file.substring(folder.length() + 1)),
                        "file",
                        "kustomization.yaml does not list it: it would not be applied");
                for (JsonNode document : deploy.documents(file)) {
                    Item item = new Item(file, document);
                    Schemas schema = Schemas.ofKind(document.path("apiVersion").asText(), item.kind());
                    if (schema == null) {
                        findings.add(
                                item.where(),
                                "no schema is here for %s of %s",
                                item.kind(),
                                document.path("apiVersion"));
                    } else {
                        schema.errors(document)
                                .forEach(error -> findings.add(item.where() + " " + error.where(), "%s", error.what()));
                    }
                    items.add(item);
                }
            }));
        }
        return items;
    }

    private static void crossCheck(Whole whole) {
        Map<String, ServiceCall> calls = new HashMap<>();
        for (Item item : whole.workloads()) {
            whole.in(item, findings -> {
                pod(item, findings);
                service(whole, item, findings).ifPresent(call -> calls.put(item.name(), call));
            });
        }
        for (String name : List.of("router", "worker")) {
            if (!calls.containsKey(name)) {
                whole.problems.add(new Problem(whole.overlay, name, "no workload starts it"));
            }
        }
        for (Item item : whole.of("Service")) {
            whole.in(item, findings -> ports(whole, item, findings));
        }
        for (Item item : whole.of("PodDisruptionBudget")) {
            whole.in(
                    item,
                    findings -> findings.require(
                            !whole.selected(item.node().path("spec").path("selector"))
                                    .isEmpty(),
                            item.where(),
                            "selects no workload"));
        }
        for (Item item : whole.of("HorizontalPodAutoscaler")) {
            whole.in(item, findings -> autoscaler(whole, item, findings));
        }
        for (Item item : whole.of("NetworkPolicy")) {
            whole.in(item, findings -> policy(whole, item, calls, findings));
        }
    }

    /** What holds for each pod, whoever's it is. */
    private static void pod(Item item, Findings findings) {
        JsonNode pod = item.pod();
        String where = item.where();
        findings.require(
                pod.path("securityContext").path("runAsNonRoot").asBoolean(), where, "may run as root: runAsNonRoot");
        findings.require(
                selects(item.node().path("spec").path("selector"), item),
                where,
                "its selector does not fit its own pods");
        Set<String> volumes = new TreeSet<>(pod.path("volumes").findValuesAsText("name"));
        volumes.clear();
        pod.path("volumes").forEach(volume -> volumes.add(volume.path("name").asText()));
        item.node()
                .path("spec")
                .path("volumeClaimTemplates")
                .forEach(
                        claim -> volumes.add(claim.path("metadata").path("name").asText()));
        for (JsonNode container : pod.path("containers")) {
            findings.requirePinned(where, container.path("image").asText());
            JsonNode security = container.path("securityContext");
            findings.require(
                    security.path("readOnlyRootFilesystem").asBoolean(), where, "its file system is not read-only");
            findings.require(
                    !security.path("allowPrivilegeEscalation").asBoolean(true), where, "allows privilege escalation");
            findings.require(
                    ComposeCheck.texts(security.path("capabilities").path("drop"))
                            .contains("ALL"),
                    where,
                    "keeps capabilities");
            findings.require(
                    container.path("resources").path("limits").has("memory")
                            && container.path("resources").path("requests").has("cpu"),
                    where,
                    "has no limit of memory or no share of a core");
            for (JsonNode mount : container.path("volumeMounts")) {
                String name = mount.path("name").asText();
                findings.require(volumes.contains(name), where, "mounts %s, and there is no such volume", name);
                findings.require(!mount.has("subPath"), where, "%s: a subPath does not follow changes", name);
            }
            for (JsonNode variable : container.path("env")) {
                findings.require(
                        !variable.path("valueFrom").has("secretKeyRef"),
                        where,
                        "%s is a secret in the environment: mount it as a file",
                        variable.path("name").asText());
            }
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                findings.require(container.has(probe), where, "has no %s", probe);
                JsonNode port = container.path(probe).path("httpGet").path("port");
                if (!port.isMissingNode()) {
                    findings.require(
                            containerPort(item, port).isPresent(),
                            where,
                            "%s asks port %s, which it has not",
                            probe,
                            port);
                }
            }
        }
    }

    /** The number of a port that is given by name or number. */
    private static Optional<Integer> containerPort(Item item, JsonNode port) {
        for (JsonNode container : item.pod().path("containers")) {
            for (JsonNode each : container.path("ports")) {
                boolean same = port.isTextual()
                        ? port.asText().equals(each.path("name").asText())
                        : port.asInt() == each.path("containerPort").asInt();
                if (same) {
                    return Optional.of(each.path("containerPort").asInt());
                }
            }
        }
        return Optional.empty();
    }

    /** A router or a worker: its arguments, and that everything around it fits them. */
    private static Optional<ServiceCall> service(Whole whole, Item item, Findings findings) {
        JsonNode container = item.pod().path("containers").path(0);
        if (!container.path("image").asText().startsWith("minutehand:")) {
            return Optional.empty();
        }
        String where = item.where();
        Optional<ServiceCall> parsed = ServiceCall.parse(
                ComposeCheck.texts(container.path("args")),
                file -> settings(whole, item, file, findings),
                findings,
                where + " args");
        parsed.ifPresent(call -> {
            call.requireReachable(findings, where + " args");
            Set<Integer> opened = new TreeSet<>(call.ports());
            Set<Integer> declared = new TreeSet<>();
            container
                    .path("ports")
                    .forEach(port -> declared.add(port.path("containerPort").asInt()));
            findings.require(
                    opened.equals(declared), where, "ports %s are declared, and it listens on %s", declared, opened);
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                JsonNode get = container.path(probe).path("httpGet");
                String path = probe.equals("readinessProbe") ? "/readyz" : "/healthz";
                findings.require(
                        get.path("path").asText().equals(path)
                                && containerPort(item, get.path("port")).equals(Optional.of(call.adminPort())),
                        where,
                        "%s must ask %s of the admin port %d",
                        probe,
                        path,
                        call.adminPort());
            }
            JsonNode scrape =
                    item.node().path("spec").path("template").path("metadata").path("annotations");
            findings.require(
                    scrape.path("prometheus.io/port").asText().equals(Integer.toString(call.adminPort())),
                    where,
                    "prometheus.io/port is %s, and the admin port %d",
                    scrape.path("prometheus.io/port"),
                    call.adminPort());
            for (String option : call.service().equals("router") ? List.of("--keys") : List.of("--webhook-secrets")) {
                findings.require(
                        mountOf(item, call.option(option)).path("secret").has("secretName"),
                        where,
                        "%s=%s lies in no secret that is mounted",
                        option,
                        call.option(option));
            }
        });
        long before = 0;
        List<String> preStop = ComposeCheck.texts(
                container.path("lifecycle").path("preStop").path("exec").path("command"));
        if (preStop.size() == 2 && preStop.get(0).equals("sleep")) {
            before = Long.parseLong(preStop.get(1));
        }
        findings.require(
                before > 0 || item.name().equals("worker"),
                where,
                "no preStop: proxies still send requests when it stops");
        StopTimes.require(
                findings,
                where + " terminationGracePeriodSeconds",
                item.pod().path("terminationGracePeriodSeconds").asText(),
                before);
        return parsed;
    }

    /** The volume in which a file of a container lies. */
    private static JsonNode mountOf(Item item, String file) {
        for (JsonNode mount : item.pod().path("containers").path(0).path("volumeMounts")) {
            if (file.startsWith(mount.path("mountPath").asText() + "/")) {
                for (JsonNode volume : item.pod().path("volumes")) {
                    if (volume.path("name").equals(mount.path("name"))) {
                        return volume;
                    }
                }
            }
        }
        return new ObjectMapper().missingNode();
    }

    /** The text of a file that an argument names: of a secret nothing, of a config map what the overlay puts into it. */
    private static Optional<String> settings(Whole whole, Item item, String file, Findings findings) {
        JsonNode volume = mountOf(item, file);
        if (volume.has("secret")) {
            return Optional.empty();
        }
        String name = volume.path("configMap").path("name").asText();
        String leaf = file.substring(file.lastIndexOf('/') + 1);
        for (JsonNode generator :
                whole.deploy.yaml(whole.overlay + "/kustomization.yaml").path("configMapGenerator")) {
            if (generator.path("name").asText().equals(name)
                    && ComposeCheck.texts(generator.path("files")).contains(leaf)) {
                return Optional.of(whole.deploy.text(whole.overlay + "/" + leaf));
            }
        }
        findings.add(item.where() + " args", "@%s: %s makes no such file", file, whole.overlay);
        return Optional.empty();
    }

    private static void ports(Whole whole, Item service, Findings findings) {
        JsonNode labels = service.node().path("spec").path("selector");
        List<Item> behind = whole.workloads().stream()
                .filter(item -> hasLabels(labels, item))
                .toList();
        findings.require(!behind.isEmpty(), service.where(), "selects no workload");
        for (JsonNode port : service.node().path("spec").path("ports")) {
            for (Item item : behind) {
                findings.require(
                        containerPort(item, port.path("targetPort")).isPresent(),
                        service.where(),
                        "targetPort %s, and %s has none",
                        port.path("targetPort"),
                        item.where());
            }
        }
    }

    private static void autoscaler(Whole whole, Item item, Findings findings) {
        JsonNode target = item.node().path("spec").path("scaleTargetRef");
        findings.require(
                whole.of(target.path("kind").asText()).stream()
                        .anyMatch(each -> each.name().equals(target.path("name").asText())),
                item.where(),
                "scales %s %s, which is not there",
                target.path("kind").asText(),
                target.path("name").asText());
        List<String> adapted = MonitoringCheck.adapted(whole.deploy.yaml(MonitoringCheck.ADAPTER));
        for (JsonNode metric : item.node().path("spec").path("metrics")) {
            for (String kind : List.of("external", "pods", "object")) {
                if (metric.has(kind)) {
                    String name = metric.path(kind).path("metric").path("name").asText();
                    findings.require(
                            adapted.contains(name), item.where(), "no rule of the adapter makes a metric %s", name);
                    MetricNames.require(findings, item.where(), name);
                }
            }
        }
    }

    private static void policy(Whole whole, Item item, Map<String, ServiceCall> calls, Findings findings) {
        JsonNode spec = item.node().path("spec");
        List<Item> selected = whole.selected(spec.path("podSelector"));
        for (JsonNode rule : spec.path("ingress")) {
            findings.require(rule.path("ports").size() > 0, item.where(), "opens all ports");
            for (JsonNode entry : rule.path("ports")) {
                int port = entry.path("port").asInt();
                for (Item target : selected) {
                    findings.require(
                            containerPort(target, entry.path("port")).isPresent(),
                            item.where(),
                            "opens port %d, which %s has not",
                            port,
                            target.where());
                    ServiceCall call = calls.get(target.name());
                    if (call != null && call.adminPort() == port) {
                        findings.require(
                                onlyMonitoring(rule.path("from")),
                                item.where(),
                                "opens the admin port of %s to others than the monitoring",
                                target.name());
                    }
                }
                if (port == REDIS_PORT) {
                    findings.require(rule.path("from").size() > 0, item.where(), "opens Redis to everybody");
                    for (JsonNode from : rule.path("from")) {
                        Set<String> names = new TreeSet<>();
                        whole.selected(from.path("podSelector")).forEach(each -> names.add(each.name()));
                        findings.require(
                                names.equals(Set.of("router", "worker")),
                                item.where(),
                                "opens Redis to %s, and routers and workers need it",
                                names);
                    }
                }
            }
        }
    }

    private static boolean onlyMonitoring(JsonNode from) {
        if (from.size() == 0) {
            return false;
        }
        for (JsonNode each : from) {
            if (!each.path("namespaceSelector")
                    .path("matchLabels")
                    .path(MONITORING_LABEL)
                    .asText()
                    .equals("monitoring")) {
                return false;
            }
        }
        return true;
    }

    private static boolean hasLabels(JsonNode labels, Item item) {
        JsonNode own =
                item.node().path("spec").path("template").path("metadata").path("labels");
        boolean[] all = {labels.size() > 0};
        labels.properties().forEach(label -> all[0] &= label.getValue().equals(own.path(label.getKey())));
        return all[0];
    }

    /** Labels, or the name among several; an empty selector selects all. */
    private static boolean selects(JsonNode selector, Item item) {
        boolean fits = !selector.has("matchLabels") || hasLabels(selector.path("matchLabels"), item);
        for (JsonNode expression : selector.path("matchExpressions")) {
            fits &= expression.path("key").asText().equals(NAME_LABEL)
                    && ComposeCheck.texts(expression.path("values")).contains(item.name());
        }
        return fits;
    }
}
