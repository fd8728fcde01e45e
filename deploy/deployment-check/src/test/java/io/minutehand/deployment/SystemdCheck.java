package io.minutehand.deployment;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The units for systemd; where systemd is installed, a test has it look at them, too. */
final class SystemdCheck implements Check {
    static final List<String> UNITS =
            List.of("systemd/minutehand-router.service", "systemd/minutehand-worker@.service");
    private static final Map<String, Set<String>> KNOWN = Map.of(
            "Unit", Set.of("Description", "Documentation", "Wants", "After"),
            "Service",
                    Set.of(
                            "User",
                            "Group",
                            "Environment",
                            "ExecStart",
                            "SuccessExitStatus",
                            "TimeoutStopSec",
                            "Restart",
                            "RestartSec",
                            "LimitNOFILE",
                            "CapabilityBoundingSet",
                            "NoNewPrivileges",
                            "PrivateDevices",
                            "PrivateTmp",
                            "ProtectControlGroups",
                            "ProtectHome",
                            "ProtectKernelModules",
                            "ProtectKernelTunables",
                            "ProtectSystem",
                            "RestrictAddressFamilies",
                            "RestrictSUIDSGID",
                            "UMask"),
            "Install", Set.of("WantedBy"));

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        List<Problem> problems = new ArrayList<>();
        for (String unit : UNITS) {
            problems.addAll(Findings.of(unit, findings -> look(deploy, deploy.text(unit), findings)));
        }
        return problems;
    }

    private static void look(DeployFolder deploy, String text, Findings findings) {
        Map<String, String> settings = new LinkedHashMap<>();
        String section = "";
        for (String line : text.lines().toList()) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (line.startsWith("[")) {
                section = line.substring(1, line.length() - 1);
                findings.require(KNOWN.containsKey(section), section, "is no section of a service");
                continue;
            }
            String name = line.substring(0, Math.max(0, line.indexOf('=')));
            findings.require(
                    KNOWN.getOrDefault(section, Set.of()).contains(name),
                    section,
                    "%s is no setting that is known here",
                    line);
            settings.put(name, line.substring(line.indexOf('=') + 1));
        }
        findings.require(!settings.getOrDefault("User", "root").equals("root"), "User", "it would run as root");
        findings.require(
                settings.getOrDefault("SuccessExitStatus", "").equals("143"),
                "SuccessExitStatus",
                "a service that was stopped ends with 143, and that is no failure");
        StopTimes.require(findings, "TimeoutStopSec", settings.getOrDefault("TimeoutStopSec", ""), 0);
        for (String variable : List.of("PASSWORD", "SECRET", "MINUTEHAND_REDIS")) {
            findings.require(
                    !settings.getOrDefault("Environment", "").contains(variable),
                    "Environment",
                    "%s is a secret",
                    variable);
        }
        start(deploy, settings.getOrDefault("ExecStart", ""), findings);
    }

    private static void start(DeployFolder deploy, String line, Findings findings) {
        List<String> words = List.of(line.split(" "));
        findings.require(
                words.get(0).equals("/usr/bin/java"), "ExecStart", "%s: a JVM by its whole path", words.get(0));
        int jar = words.indexOf("-jar") + 1;
        if (jar == 0 || jar + 1 >= words.size()) {
            findings.add("ExecStart", "starts no jar: %s", line);
            return;
        }
        ServiceCall.parse(
                        words.subList(jar + 1, words.size()),
                        file -> settings(deploy, file, findings),
                        findings,
                        "ExecStart")
                .ifPresent(
                        call -> findings.require(call.adminPort() > 0, "ExecStart", "its settings open no admin port"));
    }

    /** What the runbook puts there: the manual, as it is shipped. */
    private static Optional<String> settings(DeployFolder deploy, String file, Findings findings) {
        return switch (file) {
            case "/etc/minutehand/redis.properties" -> Optional.empty();
            case "/etc/minutehand/router.properties" -> Optional.of(deploy.text(SettingsCheck.file("router")));
            case "/etc/minutehand/worker-%i.properties" -> Optional.of(deploy.text(SettingsCheck.file("worker")));
            default -> {
                findings.add("ExecStart", "nobody puts a file %s there", file);
                yield Optional.empty();
            }
        };
    }
}
