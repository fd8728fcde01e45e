package io.minutehand.deployment;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The manual of the settings: every option of a service once, with its unit and the default that the code has. */
final class SettingsCheck implements Check {
    private static final Pattern SETTING = Pattern.compile("#?(--[a-z-]+)=(.*)");
    private static final Pattern UNIT = Pattern.compile("# Unit: \\S.*\\. Default: (\\S.*)");

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        List<Problem> problems = new ArrayList<>();
        for (String service : List.of("router", "worker")) {
            String file = file(service);
            problems.addAll(Findings.of(file, findings -> look(service, deploy.text(file), findings)));
        }
        return problems;
    }

    static String file(String service) {
        return "settings/" + service + ".properties";
    }

    private static void look(String service, String text, Findings findings) {
        Map<String, OptionSpec> options = new TreeMap<>();
        CommandLine command = ServiceCall.command(service);
        command.getCommandSpec().options().stream()
                .filter(option -> !option.usageHelp() && !option.versionHelp())
                .forEach(option -> options.put(option.longestName(), option));
        List<String> comments = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher setting = SETTING.matcher(line);
            if (setting.matches()) {
                String name = setting.group(1);
                OptionSpec option = options.remove(name);
                if (option == null) {
                    findings.add(name, "is no option of %s, or is here twice", service);
                } else {
                    described(option, line.startsWith("#"), setting.group(2), comments, findings);
                }
                comments.clear();
            } else if (line.isBlank()) {
                comments.clear();
            } else {
                findings.require(line.equals("#") || line.startsWith("# "), line, "is neither a setting nor a comment");
                comments.add(line);
            }
        }
        for (String missing : options.keySet()) {
            findings.add(missing, "is an option of %s, and not explained", service);
        }
        // What is in force in the file must be what the service takes. The password of Redis is not in it.
        ServiceCall.parse(List.of(service, "@" + service), name -> Optional.of(text), findings, "all settings");
    }

    private static void described(
            OptionSpec option, boolean isExample, String value, List<String> comments, Findings findings) {
        String name = option.longestName();
        String last = comments.isEmpty() ? "" : comments.get(comments.size() - 1);
        Matcher unit = UNIT.matcher(last);
        if (!unit.matches() || comments.size() < 2) {
            findings.add(name, "wants a sentence of what it is, and below it: # Unit: .... Default: ....");
            return;
        }
        String said = unit.group(1);
        String real = defaultOf(option);
        findings.require(
                real == null ? said.matches("(none|worker-).*") : said.matches(Pattern.quote(real) + "(\\W.*)?"),
                name,
                "default %s, and the text says %s",
                real == null ? "none" : real,
                said);
        findings.require(
                !isExample || real == null || value.equals(real),
                name,
                "default %s, and the line shows %s",
                real,
                value);
    }

    /** As the code has it; null for none. */
    private static String defaultOf(OptionSpec option) {
        String text = option.defaultValue();
        if (text != null && !text.startsWith("${env:")) {
            return text;
        }
        if (option.isMultiValue() || text != null) {
            return null;
        }
        Object initial = option.initialValue();
        return initial == null ? null : initial.toString();
    }
}
