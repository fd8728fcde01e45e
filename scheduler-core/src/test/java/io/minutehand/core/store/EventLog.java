package io.minutehand.core.store;

import io.minutehand.redis.RedisCommands;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BinaryOperator;

/**
 * A list in Redis, a shard each, to which scripts add what they were asked and what they answer, as they run: the order in which the server ran them. Only the
 * tests' copies of the scripts do so; each process has copies of its own, with its number in them.
 */
final class EventLog {
    private static final String BEGIN = "local function body()\n";

    /** Time as the script saw it, then arguments and reply, each with their number in front. */
    private static final String END = """

            end
            local reply = body()
            local time = %1$s
            local event = { '%2$s', '%3$d', time[1], time[2] }
            for _, values in ipairs({ ARGV, reply }) do
              event[#event + 1] = #values
              for _, value in ipairs(values) do event[#event + 1] = value end
            end
            redis.call('RPUSH', '%4$s:events:{' .. KEYS[1]:match('{(.-)}') .. '}', unpack(event))
            return reply
            """;

    /**
     * A script that ran.
     *
     * @param process number of the process that called it
     * @param nowMs the server's time
     * @param args texts; bytes that are none are shown as they come
     * @param reply texts, numbers too
     */
    record Event(int process, Script script, long nowMs, List<String> args, List<String> reply) {
        @Override
        public String toString() {
            return "process " + process + " " + script + " at " + ShardImage.time(nowMs) + " " + shown(args) + " -> "
                    + shown(reply);
        }

        private static List<String> shown(List<String> texts) {
            return texts.stream()
                    .map(text -> ShardImage.escaped(text.getBytes(StandardCharsets.ISO_8859_1)))
                    .toList();
        }
    }

    private final TestStore store;
    private final RedisCommands redis;
    private final String namespace;

    EventLog(TestStore store) {
        this.store = store;
        this.redis = store.redis;
        this.namespace = store.keys.namespace();
    }

    /** An edit of scripts that makes each tell what it does; of one process. */
    BinaryOperator<String> as(int process) {
        return (name, text) -> {
            if (name.startsWith("lib/")) {
                return text;
            }
            int body = text.indexOf('\n') + 1;
            // A script that only read writes its event now.
            String flags = text.substring(0, body).replace("no-writes,", "");
            return flags
                    + BEGIN
                    + text.substring(body)
                    + END.formatted(TestStore.testTime(namespace), name, process, namespace);
        };
    }

    /** Takes out all events, in order. */
    List<Event> take() {
        String key = namespace + ":events:{" + store.shard() + "}";
        List<?> words = (List<?>) redis.call("LRANGE", key, 0, -1);
        redis.call("DEL", key);
        List<Event> events = new ArrayList<>();
        for (int at = 0; at < words.size(); ) {
            Script script = Script.valueOf(text(words, at).toUpperCase(Locale.ROOT));
            int process = Integer.parseInt(text(words, at + 1));
            long nowMs = Long.parseLong(text(words, at + 2)) * 1000 + Long.parseLong(text(words, at + 3)) / 1000;
            List<String> args = texts(words, at + 4);
            List<String> reply = texts(words, at + 5 + args.size());
            events.add(new Event(process, script, nowMs, args, reply));
            at += 6 + args.size() + reply.size();
        }
        return events;
    }

    private static List<String> texts(List<?> words, int at) {
        List<String> texts = new ArrayList<>();
        for (int i = Integer.parseInt(text(words, at)); i > 0; i--) {
            texts.add(text(words, at + 1 + texts.size()));
        }
        return texts;
    }

    private static String text(List<?> words, int at) {
        return new String((byte[]) words.get(at), StandardCharsets.ISO_8859_1);
    }
}
