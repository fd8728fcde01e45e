package io.minutehand.deployment;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Redis's settings and users: what the promises rest on, and the rights that the README names. */
final class RedisCheck implements Check {
    static final String CONFIG = "redis/redis.conf";
    static final String USERS = "redis/users.acl";
    private static final Set<String> KNOWN = Set.of(
            "bind",
            "port",
            "protected-mode",
            "aclfile",
            "appendonly",
            "appendfsync",
            "save",
            "maxmemory",
            "maxmemory-policy",
            "timeout",
            "tcp-keepalive",
            "min-replicas-to-write",
            "min-replicas-max-lag",
            "tls-port",
            "tls-cert-file",
            "tls-key-file",
            "tls-ca-cert-file");
    private static final Pattern README_RIGHTS = Pattern.compile("(?s)ACL SETUSER minutehand on >secret (.*?)\n```");

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        List<Problem> problems = new ArrayList<>();
        problems.addAll(Findings.of(CONFIG, findings -> config(deploy.text(CONFIG), findings)));
        problems.addAll(Findings.of(USERS, findings -> users(deploy, findings)));
        return problems;
    }

    private static void config(String text, Findings findings) {
        Map<String, String> settings = new HashMap<>();
        text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .forEach(line -> {
                    String name = line.split("\\s+", 2)[0];
                    findings.require(KNOWN.contains(name), name, "is no setting that is known here");
                    String before =
                            settings.put(name, line.substring(name.length()).strip());
                    findings.require(before == null, name, "is there twice");
                });
        Map.of("maxmemory-policy", "noeviction", "appendonly", "yes", "aclfile", "/etc/redis/users.acl")
                .forEach((name, value) -> findings.require(
                        value.equals(settings.get(name)), name, "is %s, it must be %s", settings.get(name), value));
        findings.require(
                Set.of("everysec", "always").contains(settings.getOrDefault("appendfsync", "everysec")),
                "appendfsync",
                "is %s: a power cut loses what the system had not written",
                settings.get("appendfsync"));
        findings.require(settings.containsKey("maxmemory"), "maxmemory", "without a limit a backlog ends Redis");
    }

    private static void users(DeployFolder deploy, Findings findings) {
        Map<String, List<String>> rights = new HashMap<>();
        for (String line : deploy.text(USERS).lines().toList()) {
            String[] words = line.split(" ", -1);
            findings.require(
                    words.length > 2 && words[0].equals("user"),
                    line,
                    "is not: user NAME RIGHTS (nor may a comment stand here)");
            rights.put(words[1], List.of(words).subList(2, words.length));
        }
        findings.require(
                List.of("on", "nopass", "resetkeys", "resetchannels", "-@all", "+ping")
                        .equals(rights.get("default")),
                "default",
                "may do more than ping: %s",
                rights.get("default"));
        Matcher readme = README_RIGHTS.matcher(deploy.text("../README.md"));
        findings.require(readme.find(), "minutehand", "README.md names no rights");
        Set<String> told = new TreeSet<>(List.of(readme.group(1).strip().split("\\s+")));
        Set<String> given = new TreeSet<>(rights.getOrDefault("minutehand", List.of()));
        given.remove("on");
        findings.require(
                given.remove("#@MINUTEHAND_SHA256@"), "minutehand", "has not the password that make-users fills in");
        findings.require(
                given.equals(told),
                "minutehand",
                "has rights other than those of README.md: %s",
                difference(given, told));
    }

    private static Set<String> difference(Set<String> one, Set<String> other) {
        Set<String> all = new TreeSet<>(one);
        all.addAll(other);
        all.removeIf(right -> one.contains(right) && other.contains(right));
        return all;
    }
}
