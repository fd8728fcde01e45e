package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.loadtest.demo.OrderTable.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrderTableTest {
    @TempDir
    Path directory;

    @Test
    void shouldCloseAnUnpaidOrderOnce() throws IOException {
        try (OrderTable orders = OrderTable.create(directory.resolve("orders"), 10)) {
            orders.place(3);

            assertThat(orders.status(3)).isEqualTo(Status.WAIT_PAY);
            assertThat(orders.closeIfUnpaid(3)).isEqualTo(1);
            assertThat(orders.closeIfUnpaid(3)).isZero();
            assertThat(orders.status(3)).isEqualTo(Status.CLOSED);
            assertThat(orders.count(Status.CLOSED)).isEqualTo(1);
            assertThat(orders.count(Status.NONE)).isEqualTo(9);
        }
    }

    @Test
    void shouldLeaveAPaidOrderAlone() throws IOException {
        try (OrderTable orders = OrderTable.create(directory.resolve("orders"), 10)) {
            orders.place(3);
            assertThat(orders.payIfWaiting(3)).isEqualTo(1);

            assertThat(orders.closeIfUnpaid(3)).isZero();
            assertThat(orders.status(3)).isEqualTo(Status.PAID);
        }
    }

    @Test
    void shouldLetOneOfTwoProcessesChangeARow() throws Exception {
        int count = 20_000;
        Path file = directory.resolve("orders");
        try (OrderTable orders = OrderTable.create(file, count)) {
            for (int order = 0; order < count; order++) {
                orders.place(order);
            }
            List<Process> closers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                closers.add(new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Closer.class.getName(),
                                file.toString(),
                                Integer.toString(count))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start());
            }
            int changed = 0;
            for (Process closer : closers) {
                changed += Integer.parseInt(closer.inputReader().readLine());
                assertThat(closer.waitFor()).isZero();
            }

            assertThat(changed).isEqualTo(count);
            assertThat(orders.count(Status.CLOSED)).isEqualTo(count);
        }
    }

    /** Closes all orders and says how many rows it changed. */
    static final class Closer {
        public static void main(String[] args) throws IOException {
            int changed = 0;
            try (OrderTable orders = OrderTable.open(Path.of(args[0]))) {
                for (int order = 0; order < Integer.parseInt(args[1]); order++) {
                    changed += orders.closeIfUnpaid(order);
                }
            }
            System.out.println(changed);
        }
    }
}
