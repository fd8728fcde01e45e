package io.minutehand.core.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a script promises in its header and does in its body, read from its text alone, and where the two part. The rules are those of
 * the style guide for Lua files: a header with every section in order, each key and argument bound to a local of the header's name, statuses the
 * same on both sides, no key names made in Lua, and no refusal behind the first write.
 */
final class ScriptContract {
    /** Lines of a file, at most: schedule, the longest, does its five things in one place. */
    static final int LINES = 125;

    private static final List<String> SECTIONS =
            List.of("Transition", "KEYS", "ARGV", "Returns", "Cost", "Replay", "Source");
    private static final Pattern SECTION = Pattern.compile("-- (\\w+)(?: \\([^)]*\\))?:(.*)");
    private static final Pattern ITEM = Pattern.compile("-- {3}(\\d+)(-\\d+|\\.\\.)? +(\\w+).*");
    private static final Pattern KEY_ITEM =
            Pattern.compile("-- {3}(\\d+)(-\\d+|\\.\\.)? +\\w+ +(zset|hash|string|channel)\\b.*");
    private static final Pattern STATUS = Pattern.compile("(?<![A-Za-z'])[A-Z][A-Z_]+(?![A-Za-z])");
    private static final Pattern QUOTED_STATUS = Pattern.compile("'([A-Z][A-Z_]+)'");
    private static final Set<String> READS = Set.of(
            "TIME",
            "HGET",
            "HMGET",
            "HGETALL",
            "HEXISTS",
            "HKEYS",
            "HSCAN",
            "GET",
            "MGET",
            "EXISTS",
            "PTTL",
            "ZSCORE",
            "ZMSCORE",
            "ZCARD",
            "ZRANGE",
            "ZRANGEBYSCORE",
            "ZSCAN");
    private static final Set<String> WRITES =
            Set.of("HSET", "HDEL", "HINCRBY", "ZADD", "ZREM", "SET", "DEL", "PEXPIRE", "SPUBLISH");
    private static final Pattern WRITING_HELPER = Pattern.compile("(?<![\\w.])(?:write|wake)\\(");

    private final String name;
    private final List<String> header = new ArrayList<>();
    private final List<String> body = new ArrayList<>();
    private final Map<String, List<String>> sections = new LinkedHashMap<>();
    private final Map<String, String> bound = new LinkedHashMap<>();
    private final Set<String> includes = new LinkedHashSet<>();
    private final List<String> violations = new ArrayList<>();
    private int bindings;

    private ScriptContract(String name, String text) {
        this.name = name;
        List<String> lines = text.lines().toList();
        int at = 1;
        while (at < lines.size() && lines.get(at).startsWith("--")) {
            String line = lines.get(at++);
            if (line.startsWith("-- @include ")) {
                includes.add(line.substring("-- @include ".length()).trim());
            } else {
                header.add(line);
            }
        }
        body.addAll(lines.subList(at, lines.size()));
        require(lines.size() <= LINES, lines.size() + " lines, allowed are " + LINES);
    }

    /** Where a script breaks its contract; empty when it keeps it. */
    static List<String> violations(String name, String text) {
        ScriptContract contract = new ScriptContract(name, text);
        contract.checkFirstLine(text);
        contract.checkHeader();
        contract.readBindings();
        contract.checkBound("KEYS", contract.sections.getOrDefault("KEYS", List.of()));
        contract.checkBound("ARGV", contract.sections.getOrDefault("ARGV", List.of()));
        contract.checkStatuses();
        contract.checkCalls();
        contract.checkClock();
        contract.checkIncludes();
        contract.checkRefusalsBeforeWrites();
        return contract.violations;
    }

    /** Where a file of {@code lib/} breaks the rules that hold for it. */
    static List<String> libraryViolations(String name, String text) {
        ScriptContract contract = new ScriptContract(name, text);
        contract.body.clear();
        contract.body.addAll(text.lines().toList());
        contract.require(!text.contains("@include"), "a library includes another one");
        contract.checkCalls();
        contract.require(
                name.equals("clock") || !contract.code().contains("'TIME'"),
                "reads the time, which only lib/clock may");
        return contract.violations;
    }

    /** The statuses that a script's header promises, sorted. */
    static Set<String> promisedStatuses(String name, String text) {
        ScriptContract contract = new ScriptContract(name, text);
        contract.checkHeader();
        return contract.promised();
    }

    private void require(boolean holds, String violation) {
        if (!holds) {
            violations.add(name + ": " + violation);
        }
    }

    private void checkFirstLine(String text) {
        String first = text.lines().findFirst().orElse("");
        Matcher shebang = Pattern.compile("#!lua(?: flags=([a-z,-]+))?").matcher(first);
        if (!shebang.matches()) {
            require(false, "first line is not #!lua: " + first);
            return;
        }
        Set<String> flags =
                shebang.group(1) == null ? Set.of() : Set.of(shebang.group(1).split(","));
        require(
                flags.contains("allow-oom") != name.equals("schedule"),
                "flag allow-oom belongs on all scripts but schedule");
        require(flags.contains("no-writes") == !writes(code()), "flag no-writes says the opposite of the body");
    }

    private void checkHeader() {
        String first = header.isEmpty() ? "" : header.get(0);
        require(first.matches("-- " + name + ": \\S.*\\."), "header does not begin with \"-- " + name + ": purpose.\"");
        List<String> order = new ArrayList<>();
        List<String> current = new ArrayList<>();
        for (String line : header.subList(Math.min(1, header.size()), header.size())) {
            Matcher section = SECTION.matcher(line);
            if (section.matches() && SECTIONS.contains(section.group(1))) {
                order.add(section.group(1));
                current = new ArrayList<>();
                current.add(section.group(2));
                sections.put(section.group(1), current);
            } else {
                require(line.startsWith("--   ") || order.isEmpty(), "header line belongs to no section: " + line);
                current.add(line);
            }
        }
        List<String> expected = SECTIONS.stream()
                .filter(section -> !section.equals("Source") || order.contains(section))
                .toList();
        require(order.equals(expected), "header has the sections " + order + ", expected " + expected);
        sections.forEach((section, lines) -> require(!String.join("", lines).isBlank(), section + " says nothing"));
        List<String> keys = sections.getOrDefault("KEYS", List.of());
        for (String line : keys.subList(Math.min(1, keys.size()), keys.size())) {
            require(
                    KEY_ITEM.matcher(line).matches() || line.startsWith("--   then "),
                    "KEYS line lacks index, name or type: " + line);
        }
    }

    /** The first lines, up to a blank one: {@code local a, b = KEYS[1], tonumber(ARGV[1])}. */
    private void readBindings() {
        for (String line : body) {
            Matcher local = Pattern.compile("local ([\\w, ]+) = (.*)").matcher(line);
            if (!local.matches()) {
                break;
            }
            bindings++;
            String[] names = local.group(1).split(", ");
            List<String> values = topLevelParts(local.group(2));
            require(
                    names.length == values.size(),
                    "binds " + names.length + " names to " + values.size() + " values: " + line);
            for (int i = 0; i < Math.min(names.length, values.size()); i++) {
                bound.put(names[i], values.get(i));
            }
        }
    }

    private void checkBound(String table, List<String> lines) {
        int expectedIndex = 1;
        String rest = code(body.subList(bindings, body.size()));
        for (String line : lines) {
            Matcher item = ITEM.matcher(line);
            if (item.matches()) {
                String index = item.group(1);
                String local = item.group(3);
                require(
                        Integer.parseInt(index) == expectedIndex,
                        table + " " + local + " has index " + index + ", expected " + expectedIndex);
                String value = bound.getOrDefault(local, "nothing");
                boolean fits = item.group(2) == null
                        ? value.contains(table + "[" + index + "]")
                        : value.equals(index) || (value.equals(table) && index.equals("1"));
                require(fits, table + "[" + index + "] is not bound to a local " + local + " but to " + value);
                require(
                        Pattern.compile("\\b" + local + "\\b").matcher(rest).find(),
                        table + " " + local + " is bound but not used");
                expectedIndex = item.group(2) != null && item.group(2).startsWith("-")
                        ? Integer.parseInt(item.group(2).substring(1)) + 1
                        : expectedIndex + 1;
            } else if (line.startsWith("--   then ")) {
                checkThen(table, line, expectedIndex, rest);
            }
        }
        Matcher literal = Pattern.compile(table + "\\[(\\d+)]").matcher(code());
        while (literal.find()) {
            require(
                    Integer.parseInt(literal.group(1)) < expectedIndex,
                    literal.group() + " is used but not in the header");
        }
    }

    /** {@code then 9 an item: ...} is read by a loop from the next index in steps of 9; {@code then receipts} in steps of 1. */
    private void checkThen(String table, String line, int next, String rest) {
        Matcher step = Pattern.compile("--   then (\\d+) .*").matcher(line);
        if (table.equals("KEYS") && !step.matches()) {
            String name = line.split(" +")[2];
            require(
                    rest.contains("KEYS[tonumber(ARGV[") || rest.contains("KEYS[" + name + " + "),
                    "the keys of \"" + line.substring(5) + "\" are not used");
            return;
        }
        boolean pairs = line.contains(" pairs");
        String steps = step.matches() ? ", " + step.group(1) : "";
        require(
                Pattern.compile("= (?:" + next + "|items), #" + table + (pairs ? "" : steps) + " do")
                        .matcher(rest)
                        .find(),
                "no loop over " + table + " from " + next + " for \"" + line.substring(5) + "\"");
    }

    private void checkStatuses() {
        Set<String> returned = new TreeSet<>();
        Matcher status = QUOTED_STATUS.matcher(withoutCalls(code()));
        while (status.find()) {
            returned.add(status.group(1));
        }
        require(returned.equals(promised()), "header promises " + promised() + ", body returns " + returned);
    }

    private Set<String> promised() {
        Set<String> statuses = new TreeSet<>();
        for (String line : sections.getOrDefault("Returns", List.of())) {
            // A server's error is no status of ours.
            Matcher status = STATUS.matcher(line.replace("OOM error", ""));
            while (status.find()) {
                statuses.add(status.group());
            }
        }
        return statuses;
    }

    private void checkCalls() {
        for (List<String> call : calls(code())) {
            String command = call.get(0).replace("'", "");
            require(
                    READS.contains(command) || WRITES.contains(command),
                    "calls " + command + ", which is not among the commands allowed");
            if (!command.equals("TIME") && call.size() > 1) {
                String key = call.get(1);
                require(
                        key.matches("\\w+|KEYS\\[.*]|unpack\\((?:\\w+|KEYS, [^()]+)\\)") && !key.contains(".."),
                        command + " has a key that is made in Lua: " + key);
                require(
                        !Pattern.compile("\\b" + Pattern.quote(key) + " = [^=\\n]*\\.\\.")
                                .matcher(code())
                                .find(),
                        command + " has a key that was joined from parts: " + key);
            }
        }
        require(!code().contains("redis.pcall"), "hides errors by pcall");
        require(
                !Pattern.compile("(?m)^\\s*function |(?m)^\\w+ = ")
                        .matcher(code())
                        .find(),
                "defines a global");
    }

    private void checkClock() {
        require(!code().contains("'TIME'"), "reads the time, which only lib/clock may");
        int reads = code().split("(?<![\\w])clock\\(\\)", -1).length - 1;
        require(reads == (includes.contains("clock") ? 1 : 0), "calls clock() " + reads + " times");
    }

    private void checkIncludes() {
        Map<String, String> libraries = new LinkedHashMap<>();
        includes.forEach(library -> libraries.put(library, ScriptLibrary.source("lib/" + library)));
        libraries.forEach((library, text) -> {
            String users = code()
                    + libraries.entrySet().stream()
                            .filter(other -> !other.getKey().equals(library))
                            .map(Map.Entry::getValue)
                            .reduce("", String::concat);
            boolean used = Pattern.compile("(?m)^local function (\\w+)")
                    .matcher(text)
                    .results()
                    .anyMatch(function -> users.contains(function.group(1) + "("));
            require(used, "includes " + library + " and uses nothing of it");
        });
    }

    /**
     * From the first write on there is one way out, the last line. A refusal may mend what it refuses over (an orphan), if nothing is
     * decided between that write and its return.
     */
    private void checkRefusalsBeforeWrites() {
        List<String> lines = body.stream().map(ScriptContract::withoutComment).toList();
        int last = lines.size() - 1;
        while (last > 0 && lines.get(last).isBlank()) {
            last--;
        }
        boolean written = false;
        for (int i = 0; i <= last; i++) {
            String line = lines.get(i);
            if (written && i < last) {
                require(!line.matches(".*\\breturn\\b.*"), "may end at line \"" + line.strip() + "\", after a write");
            }
            if (writes(line)) {
                int exit = returnOfRefusal(lines, i);
                if (exit < 0) {
                    written = true;
                } else {
                    for (String between : lines.subList(i + 1, exit)) {
                        require(!between.matches(".*\\bif\\b.*"), "decides after a write: " + between.strip());
                    }
                }
            }
        }
    }

    /** The line of the return that ends the block in which a write stands, or -1 when the block goes on. */
    private static int returnOfRefusal(List<String> lines, int write) {
        int indent = indent(lines.get(write));
        for (int i = write; indent > 0 && i < lines.size() && indent(lines.get(i)) >= indent; i++) {
            if (indent(lines.get(i)) == indent && lines.get(i).strip().startsWith("return ")) {
                return i;
            }
        }
        return -1;
    }

    private static int indent(String line) {
        return line.isBlank()
                ? Integer.MAX_VALUE
                : line.length() - line.stripLeading().length();
    }

    private static boolean writes(String code) {
        return WRITING_HELPER.matcher(code).find()
                || calls(code).stream()
                        .anyMatch(call -> WRITES.contains(call.get(0).replace("'", "")));
    }

    private String code() {
        return code(body);
    }

    private static String code(List<String> lines) {
        StringBuilder code = new StringBuilder();
        lines.forEach(line -> code.append(withoutComment(line)).append('\n'));
        return code.toString();
    }

    private static String withoutComment(String line) {
        int at = line.indexOf("--");
        return at < 0 ? line : line.substring(0, at);
    }

    /** The arguments of each {@code redis.call(...)}, calls inside calls too. */
    private static List<List<String>> calls(String code) {
        List<List<String>> calls = new ArrayList<>();
        for (int at = code.indexOf("redis.call("); at >= 0; at = code.indexOf("redis.call(", at + 1)) {
            int open = at + "redis.call".length();
            calls.add(topLevelParts(code.substring(open + 1, closing(code, open))));
        }
        return calls;
    }

    private static String withoutCalls(String code) {
        StringBuilder rest = new StringBuilder();
        int from = 0;
        for (int at = code.indexOf("redis.call("); at >= 0; at = code.indexOf("redis.call(", from)) {
            rest.append(code, from, at);
            from = closing(code, at + "redis.call".length());
        }
        return rest.append(code.substring(from)).toString();
    }

    private static int closing(String code, int open) {
        int depth = 0;
        for (int i = open; i < code.length(); i++) {
            char c = code.charAt(i);
            if (c == '(') {
                depth++;
            } else if (c == ')' && --depth == 0) {
                return i;
            }
        }
        return code.length();
    }

    private static List<String> topLevelParts(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i < list.length(); i++) {
            char c = list.charAt(i);
            if ("([{".indexOf(c) >= 0) {
                depth++;
            } else if (")]}".indexOf(c) >= 0) {
                depth--;
            } else if (c == ',' && depth == 0) {
                parts.add(list.substring(from, i).strip());
                from = i + 1;
            }
        }
        parts.add(list.substring(from).strip());
        return parts;
    }
}
