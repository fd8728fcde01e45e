package io.minutehand.router.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a command says: tables and lines for people as they come, or one JSON object at the end. Text of strangers (ids, reasons, names) never gets
 * out raw: a terminal obeys control characters. Not thread-safe.
 */
final class Printer {
    private static final ObjectMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    private final PrintWriter out;
    private final boolean json;
    private final Map<String, Object> answer = new LinkedHashMap<>();

    Printer(PrintWriter out, boolean json) {
        this.out = out;
        this.json = json;
    }

    /** Text in one line, control characters and what turns the direction of writing escaped as \\u and four digits. */
    static String shown(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            int type = Character.getType(c);
            boolean raw = type != Character.CONTROL
                    && type != Character.FORMAT
                    && type != Character.SURROGATE
                    && type != Character.UNASSIGNED
                    && type != Character.PRIVATE_USE
                    && type != Character.LINE_SEPARATOR
                    && type != Character.PARAGRAPH_SEPARATOR;
            if (raw) {
                safe.appendCodePoint(c);
            } else {
                for (char half : Character.toChars(c)) {
                    safe.append(String.format("\\u%04x", (int) half));
                }
            }
        });
        return safe.toString();
    }

    /** A line for people; JSON has it nowhere. */
    void line(String format, Object... values) {
        if (!json) {
            out.println(shown(String.format(format, values)));
        }
    }

    /** A value for JSON; people do not see it. */
    void put(String name, Object value) {
        answer.put(name, value);
    }

    /** Things of a kind: rows of a table under the names of their values; every row has the same names. */
    void rows(String name, Collection<? extends Map<String, ? extends @Nullable Object>> rows) {
        put(name, List.copyOf(rows));
        table(rows);
    }

    /** A table for people; JSON has it nowhere. */
    void table(Collection<? extends Map<String, ? extends @Nullable Object>> rows) {
        if (json || rows.isEmpty()) {
            return;
        }
        List<List<String>> table = new ArrayList<>();
        table.add(rows.iterator().next().keySet().stream()
                .map(column -> column.replace('_', ' '))
                .toList());
        rows.forEach(row -> table.add(row.values().stream().map(Printer::cell).toList()));
        int columns = table.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : table) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : table) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(row.get(i));
                line.append(
                        " ".repeat(i == columns - 1 ? 0 : widths[i] - row.get(i).length() + 2));
            }
            out.println(line.toString().stripTrailing());
        }
    }

    /** One thing: its values, a line each. */
    void fields(Map<String, Object> fields) {
        answer.putAll(fields);
        if (!json) {
            fields.forEach((name, value) -> out.printf("%-12s %s%n", name.replace('_', ' '), cell(value)));
        }
    }

    private static String cell(@Nullable Object value) {
        if (value == null) {
            return "-";
        }
        String text = value instanceof Collection<?> many
                ? String.join(" ", many.stream().map(String::valueOf).toList())
                : String.valueOf(value);
        return text.isEmpty() ? "-" : shown(text);
    }

    /** Prints what was collected for JSON. */
    void flush() {
        if (json) {
            try {
                // The one control character that JSON lets through.
                out.println(JSON.writeValueAsString(answer).replace("\u007f", "\\u007f"));
            } catch (JsonProcessingException impossible) {
                throw new IllegalStateException("an answer is no JSON", impossible);
            }
        }
        out.flush();
    }
}
