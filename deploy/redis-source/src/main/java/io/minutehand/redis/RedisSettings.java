package io.minutehand.redis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a Redis that is started here is set up. Snapshots are always off; the server listens on 127.0.0.1 only and wants
 * a password.
 *
 * @param appendOnly   true writes an append-only file, so that data survives a restart
 * @param debugCommand true allows {@code DEBUG} (for example {@code DEBUG SLEEP})
 * @param password     the password, or null for a random one
 * @param steppedClock true lets {@link RedisServer#setClock} set its clock; needs libfaketime
 * @param lines        more lines of redis.conf, applied last
 */
public record RedisSettings(
        boolean appendOnly, boolean debugCommand, @Nullable String password, boolean steppedClock, List<String> lines) {

    /**
     * Checks and copies.
     *
     * @throws IllegalArgumentException if a line or the password has a line break, or the password a blank or a quote
     */
    public RedisSettings {
        lines = List.copyOf(lines);
        for (String line : lines) {
            if (line.indexOf('\n') >= 0 || line.indexOf('\r') >= 0) {
                throw new IllegalArgumentException("A configuration line has a line break: " + line);
            }
        }
        if (password != null && !password.matches("[A-Za-z0-9._~-]+")) {
            throw new IllegalArgumentException("A password for tests has letters, digits and . _ ~ - only");
        }
    }

    /** No append-only file, no DEBUG, a random password. */
    public static RedisSettings defaults() {
        return new RedisSettings(false, false, null, false, List.of());
    }

    /** With an append-only file, written through at every reply as far as the operating system, synced every second. */
    public RedisSettings withAppendOnly() {
        return new RedisSettings(true, debugCommand, password, steppedClock, lines);
    }

    /** With the DEBUG command allowed. */
    public RedisSettings withDebugCommand() {
        return new RedisSettings(appendOnly, true, password, steppedClock, lines);
    }

    /** With this password: letters, digits and {@code . _ ~ -} only. */
    public RedisSettings withPassword(String value) {
        return new RedisSettings(appendOnly, debugCommand, value, steppedClock, lines);
    }

    /** With a clock that can be set, see {@link RedisServer#setClock}; starting it needs libfaketime on this machine. */
    public RedisSettings withSteppedClock() {
        return new RedisSettings(appendOnly, debugCommand, password, true, lines);
    }

    /** With these lines added, such as {@code maxmemory 10mb}. */
    public RedisSettings with(String... more) {
        List<String> all = new ArrayList<>(lines);
        all.addAll(List.of(more));
        return new RedisSettings(appendOnly, debugCommand, password, steppedClock, all);
    }

    /** The lines of redis.conf that do not depend on port and role. */
    List<String> toConfig(String effectivePassword) {
        List<String> config = new ArrayList<>();
        config.add("requirepass " + effectivePassword);
        config.add("masterauth " + effectivePassword);
        config.add("save \"\"");
        config.add("appendonly " + (appendOnly ? "yes" : "no"));
        if (debugCommand) {
            config.add("enable-debug-command local");
        }
        config.addAll(lines);
        return config;
    }
}
