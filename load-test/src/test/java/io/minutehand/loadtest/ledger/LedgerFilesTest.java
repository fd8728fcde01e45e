package io.minutehand.loadtest.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.loadtest.ledger.LedgerRecord.Ack;
import io.minutehand.loadtest.ledger.LedgerRecord.Cancel;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerRecord.End;
import io.minutehand.loadtest.ledger.LedgerRecord.Intent;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerRecord.Outcome;
import io.minutehand.loadtest.ledger.LedgerRecord.Result;
import io.minutehand.loadtest.ledger.LedgerRecord.Start;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LedgerFilesTest {
    private static final Start START = new Start("order:1", "orders", 2, 1, "node-1", 7, 1_000_000, 1_000_250, 40, 9);

    @TempDir
    Path directory;

    static Stream<LedgerRecord> oneOfEach() {
        return Stream.of(
                START,
                new End("order:1", 2, 1, "node-1", Result.FAILED, 5),
                new Intent("a.b:c@d+e=f-g_h", "orders", 4, 3),
                new Outcome("order:1", Ack.UNKNOWN, "UNKNOWN", 0, 2),
                new Dead("order:1", "orders", 6, "node-2", 8),
                new Cancel("order:1", Ack.REFUSED, "ENDED", 8),
                new NodeEvent("node-3", "killed", "with 3 jobs in flight", 8),
                new NodeEvent("node-3", "ready", "", 8));
    }

    @ParameterizedTest
    @MethodSource("oneOfEach")
    void shouldReadBackWhatWasWritten(LedgerRecord entry) throws IOException {
        try (LedgerWriter writer = LedgerWriter.create(directory, "p")) {
            writer.append(entry);
        }

        assertThat(readAll()).containsExactly(entry);
    }

    @Test
    void shouldKeepALineOneLineWhateverItsTextHolds() throws IOException {
        try (LedgerWriter writer = LedgerWriter.create(directory, "p")) {
            writer.append(new NodeEvent("node-1", "failed", "two\nlines\tand a tab", 1));
            writer.append(START);
        }

        assertThat(readAll()).containsExactly(new NodeEvent("node-1", "failed", "two lines and a tab", 1), START);
    }

    @Test
    void shouldHandOutOnlyWhatIsNew() throws IOException {
        LedgerTail tail = new LedgerTail(directory);
        List<LedgerRecord> seen = new ArrayList<>();
        try (LedgerWriter one = LedgerWriter.create(directory, "one")) {
            one.append(START);
            assertThat(tail.poll(seen::add)).isEqualTo(1);
            assertThat(tail.poll(seen::add)).isZero();
            try (LedgerWriter two = LedgerWriter.create(directory, "two")) {
                two.append(START);
                one.append(START);
                assertThat(tail.poll(seen::add)).isEqualTo(2);
            }
        }
        assertThat(seen).hasSize(3);
    }

    @Test
    void shouldIgnoreAndCountATornLastLine() throws IOException {
        try (LedgerWriter writer = LedgerWriter.create(directory, "p")) {
            writer.append(START);
        }
        byte[] line = LedgerLine.encode(START);
        Path file = directory.resolve("p.ledger");
        // Cut inside the last number: what is left would still parse, as another time.
        Files.write(file, Arrays.copyOf(line, line.length - 1), StandardOpenOption.APPEND);

        List<LedgerRecord> seen = new ArrayList<>();
        LedgerTail tail = LedgerTail.readAll(directory, seen::add);

        assertThat(seen).containsExactly(START);
        assertThat(tail.tornLines()).isEqualTo(1);
        assertThat(tail.damagedLines()).isZero();
    }

    @Test
    void shouldJoinALineThatArrivesInTwoParts() throws IOException {
        byte[] line = LedgerLine.encode(START);
        Path file = Files.write(directory.resolve("p.ledger"), Arrays.copyOf(line, 10));
        LedgerTail tail = new LedgerTail(directory);
        List<LedgerRecord> seen = new ArrayList<>();
        tail.poll(seen::add);
        assertThat(tail.tornLines()).isEqualTo(1);

        Files.write(file, Arrays.copyOfRange(line, 10, line.length), StandardOpenOption.APPEND);
        tail.poll(seen::add);

        assertThat(seen).containsExactly(START);
        assertThat(tail.tornLines()).isZero();
    }

    @Test
    void shouldReadFilesLargerThanItsBuffer() throws IOException {
        int lines = 50_000;
        try (LedgerWriter writer = LedgerWriter.create(directory, "p")) {
            for (int i = 0; i < lines; i++) {
                writer.append(new Intent("order:" + i, "orders", i, i));
            }
        }

        List<LedgerRecord> seen = readAll();

        assertThat(Files.size(directory.resolve("p.ledger"))).isGreaterThan(1 << 20);
        assertThat(seen).hasSize(lines);
        assertThat(seen.get(lines - 1)).isEqualTo(new Intent("order:" + (lines - 1), "orders", lines - 1, lines - 1));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void shouldCountAWholeLineThatMakesNoSenseAsDamage(String line) throws IOException {
        Files.writeString(directory.resolve("p.ledger"), line + "\n" + new String(LedgerLine.encode(START), UTF_8));

        List<LedgerRecord> seen = new ArrayList<>();
        LedgerTail tail = LedgerTail.readAll(directory, seen::add);

        assertThat(seen).containsExactly(START);
        assertThat(tail.damagedLines()).isEqualTo(1);
        assertThat(tail.tornLines()).isZero();
    }

    static Stream<String> nonsense() {
        return Stream.of(
                "",
                "X\t1",
                "I\tid\torders\t1",
                "I\tid\torders\t1\t2\t3",
                "I\tid\torders\tsoon\t2",
                "E\tid\t1\t1\tn\tso\t1");
    }

    @Test
    void shouldRefuseASecondProcessOfTheSameName() throws IOException {
        try (LedgerWriter first = LedgerWriter.create(directory, "p")) {
            first.append(START);
            assertThatThrownBy(() -> LedgerWriter.create(directory, "p"))
                    .isInstanceOf(FileAlreadyExistsException.class);
        }
    }

    @Test
    void shouldKeepLinesOfManyThreadsWholeAlsoWhenTheyAreInterrupted() throws Exception {
        int threads = 8;
        int each = 2_000;
        try (LedgerWriter writer = LedgerWriter.create(directory, "p")) {
            CountDownLatch gate = new CountDownLatch(1);
            List<Thread> running = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                Thread writing = new Thread(() -> {
                    awaitUninterruptibly(gate);
                    for (int i = 0; i < each; i++) {
                        Thread.currentThread().interrupt();
                        writer.append(new Intent(thread + ":" + i, "orders", i, i));
                    }
                });
                writing.start();
                running.add(writing);
            }
            gate.countDown();
            for (Thread thread : running) {
                thread.join();
            }
        }

        assertThat(readAll()).hasSize(threads * each).doesNotHaveDuplicates();
    }

    @Test
    void shouldKeepEveryLineThatWasWrittenBeforeTheProcessWasKilled() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Scribe.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String lastSeen = "";
        try (BufferedReader announced = process.inputReader()) {
            while (!"5000".equals(lastSeen)) {
                lastSeen = announced.readLine();
            }
            // By its handle: the process object would close the stream that is still to be read.
            process.toHandle().destroyForcibly();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
            for (String line = announced.readLine(); line != null; line = announced.readLine()) {
                lastSeen = line;
            }
        }
        int written = Integer.parseInt(lastSeen);

        assertThat(process.exitValue()).isEqualTo(128 + 9);
        assertThat(readAll().size()).isGreaterThanOrEqualTo(written).isGreaterThanOrEqualTo(5_000);
    }

    private List<LedgerRecord> readAll() throws IOException {
        List<LedgerRecord> seen = new ArrayList<>();
        LedgerTail tail = LedgerTail.readAll(directory, seen::add);
        assertThat(tail.damagedLines()).isZero();
        return seen;
    }

    /** Writes entries for ever and says how many it has written. */
    static final class Scribe {
        public static void main(String[] args) throws IOException {
            try (LedgerWriter writer = LedgerWriter.create(Path.of(args[0]), "scribe")) {
                for (int i = 1; i > 0; i++) {
                    writer.append(new Intent("order:" + i, "orders", i, i));
                    if (i % 500 == 0) {
                        System.out.println(i);
                    }
                }
            }
        }
    }

    private static void awaitUninterruptibly(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
