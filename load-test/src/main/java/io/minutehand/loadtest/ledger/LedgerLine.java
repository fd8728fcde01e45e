package io.minutehand.loadtest.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Cancel;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.util.Locale;

/**
 * The form of a record in a ledger file: one line, a letter for the kind, then its components in the order of the
 * record, separated by tabs. Text, so that {@code grep} and {@code sort} answer the questions that no report foresaw.
 */
final class LedgerLine {
    private static final char SEPARATOR = '\t';

    private LedgerLine() {}

    static byte[] encode(LedgerRecord entry) {
        StringBuilder line = new StringBuilder(160);
        if (entry instanceof Start start) {
            add(line.append('S'), start.id());
            add(line, start.topic());
            add(line, start.attempt());
            add(line, start.delivery());
            add(line, start.node());
            add(line, start.shard());
            add(line, start.dueUs());
            add(line, start.startUs());
            add(line, start.errorUs());
            add(line, start.wallUs());
        } else if (entry instanceof End end) {
            add(line.append('E'), end.id());
            add(line, end.attempt());
            add(line, end.delivery());
            add(line, end.node());
            add(line, end.result().word());
            add(line, end.atUs());
        } else if (entry instanceof Intent intent) {
            add(line.append('I'), intent.id());
            add(line, intent.topic());
            add(line, intent.dueUs());
            add(line, intent.atUs());
        } else if (entry instanceof Outcome outcome) {
            add(line.append('O'), outcome.id());
            add(line, outcome.ack().name().toLowerCase(Locale.ROOT));
            add(line, outcome.detail());
            add(line, outcome.dueUs());
            add(line, outcome.atUs());
        } else if (entry instanceof Dead dead) {
            add(line.append('D'), dead.id());
            add(line, dead.topic());
            add(line, dead.attempt());
            add(line, dead.node());
            add(line, dead.atUs());
        } else if (entry instanceof Cancel cancel) {
            add(line.append('C'), cancel.id());
            add(line, cancel.ack().name().toLowerCase(Locale.ROOT));
            add(line, cancel.detail());
            add(line, cancel.atUs());
        } else if (entry instanceof NodeEvent event) {
            add(line.append('N'), event.node());
            add(line, event.event());
            add(line, event.detail());
            add(line, event.atUs());
        } else {
            throw new IllegalArgumentException("no form for " + entry.getClass());
        }
        return line.append('\n').toString().getBytes(UTF_8);
    }

    /**
     * Reads one line without its end.
     *
     * @throws IllegalArgumentException if it is no whole record
     */
    static LedgerRecord decode(String line) {
        Fields fields = new Fields(line);
        LedgerRecord entry = switch (fields.word()) {
            case "S" ->
                new Start(
                        fields.word(),
                        fields.word(),
                        fields.number(),
                        fields.number(),
                        fields.word(),
                        fields.number(),
                        fields.time(),
                        fields.time(),
                        fields.time(),
                        fields.time());
            case "E" ->
                new End(
                        fields.word(),
                        fields.number(),
                        fields.number(),
                        fields.word(),
                        Result.valueOf(fields.word().toUpperCase(Locale.ROOT)),
                        fields.time());
            case "I" -> new Intent(fields.word(), fields.word(), fields.time(), fields.time());
            case "O" ->
                new Outcome(
                        fields.word(),
                        Ack.valueOf(fields.word().toUpperCase(Locale.ROOT)),
                        fields.word(),
                        fields.time(),
                        fields.time());
            case "D" -> new Dead(fields.word(), fields.word(), fields.number(), fields.word(), fields.time());
            case "C" ->
                new Cancel(
                        fields.word(),
                        Ack.valueOf(fields.word().toUpperCase(Locale.ROOT)),
                        fields.word(),
                        fields.time());
            case "N" -> new NodeEvent(fields.word(), fields.word(), fields.word(), fields.time());
            default -> throw new IllegalArgumentException("unknown kind of ledger line: " + line);
        };
        fields.end();
        return entry;
    }

    private static void add(StringBuilder line, long number) {
        line.append(SEPARATOR).append(number);
    }

    private static void add(StringBuilder line, String word) {
        line.append(SEPARATOR);
        for (int i = 0; i < word.length(); i++) {
            char c = word.charAt(i);
            line.append(c < ' ' ? ' ' : c);
        }
    }

    /** Hands out the fields of a line in order. */
    private static final class Fields {
        private final String line;
        private int next;

        Fields(String line) {
            this.line = line;
        }

        String word() {
            if (next > line.length()) {
                throw new IllegalArgumentException("ledger line is too short: " + line);
            }
            int end = line.indexOf(SEPARATOR, next);
            if (end < 0) {
                end = line.length();
            }
            String word = line.substring(next, end);
            next = end + 1;
            return word;
        }

        int number() {
            return Integer.parseInt(word());
        }

        long time() {
            return Long.parseLong(word());
        }

        void end() {
            if (next <= line.length()) {
                throw new IllegalArgumentException("ledger line is too long: " + line);
            }
        }
    }
}
