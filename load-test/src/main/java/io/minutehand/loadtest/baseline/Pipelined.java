package io.minutehand.loadtest.baseline;

import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** Many jobs for a scheduler that takes one at a time: all calls at once, then all answers. */
final class Pipelined {
    private Pipelined() {}

    static long sendAll(Sender sender, List<Order> orders) {
        CountDownLatch unanswered = new CountDownLatch(orders.size());
        AtomicLong stored = new AtomicLong();
        for (Order order : orders) {
            sender.send(order.id(), order.payload(), order.dueUs(), accepted -> {
                stored.addAndGet(accepted ? 1 : 0);
                unanswered.countDown();
            });
        }
        try {
            unanswered.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return stored.get();
    }
}
