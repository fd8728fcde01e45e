package io.minutehand.loadtest.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** The process that started this one, as {@link WorkerProcess} does: what it says on the input, and what it is told. */
public final class Harness {
    private Harness() {}

    /**
     * Listens from now on: at {@code stop} the work is to end in good order; when the input ends, the harness is gone, and
     * this process halts at once.
     *
     * @param stop called once, on a thread of its own
     */
    public static void listen(Runnable stop) {
        Thread input = new Thread(() -> read(stop), "input");
        input.setDaemon(true);
        input.start();
    }

    private static void read(Runnable stop) {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            if ("stop".equals(input.readLine())) {
                stop.run();
                return;
            }
        } catch (IOException e) {
            // As good as closed.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Tells how this process fares. */
    public static void tell(WorkerLine.Status status) {
        System.out.println(WorkerLine.status(status));
        System.out.flush();
    }
}
