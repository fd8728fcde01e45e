package io.minutehand.loadtest.demo;

import java.io.Console;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * What this process writes to. The launcher knows best and says so with the system properties
 * {@code minutehand.terminal} (true or false) and {@code minutehand.terminal.size} (lines, a blank, columns); without it
 * the JVM is asked.
 */
final class Terminal {
    private static final int USUAL_LINES = 24;
    private static final int LEAST_LINES = 16;

    private Terminal() {}

    static boolean isTerminal() {
        String said = System.getProperty("minutehand.terminal");
        return said != null ? Boolean.parseBoolean(said) : hasConsole();
    }

    /** Returns whether colours are wanted, by the convention of no-color.org. */
    static boolean hasColour() {
        String noColour = System.getenv("NO_COLOR");
        return isTerminal() && (noColour == null || noColour.isEmpty()) && !"dumb".equals(System.getenv("TERM"));
    }

    static View view(DemoOptions options) {
        return options.live()
                ? new LiveView(System.out, new Dashboard(lines(), options.colour(), isUnicode()))
                : new PlainView(System.out);
    }

    static int columns() {
        return size(1, Dashboard.COLUMNS);
    }

    private static int lines() {
        int lines = size(0, USUAL_LINES);
        return lines < LEAST_LINES ? USUAL_LINES : lines;
    }

    private static int size(int field, int usual) {
        String[] size = System.getProperty("minutehand.terminal.size", "").split(" ", -1);
        // A terminal that does not know its size says 0.
        return size.length == 2 && size[field].matches("[1-9]\\d{0,4}") ? Integer.parseInt(size[field]) : usual;
    }

    private static boolean isUnicode() {
        String name =
                System.getProperty("stdout.encoding", Charset.defaultCharset().name());
        return name.toUpperCase(Locale.ROOT).equals(StandardCharsets.UTF_8.name());
    }

    /** From JDK 22 on a console is there without a terminal, and has a method to tell. */
    private static boolean hasConsole() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
