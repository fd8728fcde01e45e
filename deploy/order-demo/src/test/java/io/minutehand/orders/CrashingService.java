package io.minutehand.orders;

import io.minutehand.router.outbox.OutboxSettings;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * A process that halts at the worst moment: many threads stand between their commit and the call that has the job scheduled; others have been rolled
 * back, or are in the middle of a transaction that nobody will commit.
 */
final class CrashingService {
    static final int HALTED = 9;

    private static final class RolledBack extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private CrashingService() {}

    /**
     * Halts.
     *
     * @param args how many orders are committed, rolled back, left in an open transaction
     */
    public static void main(String[] args) throws Exception {
        int committed = Integer.parseInt(args[0]);
        int rolledBack = Integer.parseInt(args[1]);
        int left = Integer.parseInt(args[2]);
        LogFile.use(Path.of("crashing.log"));
        // Nobody but the threads below may schedule anything.
        OutboxSettings never = OutboxSettings.defaults()
                .withLongestBackOff(Duration.ofHours(1))
                .withPeriod(Duration.ofHours(1));
        CountDownLatch arrived = new CountDownLatch(committed + left);
        ThreadLocal<String> part = new ThreadLocal<>();
        // No more than the pool has connections for, beside those that stay in a transaction.
        Semaphore turns = new Semaphore(6);
        OrderService service = OrderService.open(
                OrderSettings.fromEnvironment(System.getenv()),
                new OrderService.Steps() {
                    @Override
                    public void written(io.minutehand.orders.Order order) {
                        if ("rolled-back".equals(part.get())) {
                            say("rolled-back", order);
                            throw new RolledBack();
                        } else if ("left".equals(part.get())) {
                            say("rolled-back", order);
                            standStill(arrived);
                        }
                    }

                    @Override
                    public void committed(io.minutehand.orders.Order order) {
                        say("committed", order);
                        turns.release();
                        standStill(arrived);
                    }
                },
                never);
        for (int i = 0; i < committed + rolledBack + left; i++) {
            String mine = i < committed ? "committed" : i < committed + rolledBack ? "rolled-back" : "left";
            Thread thread = new Thread(() -> {
                part.set(mine);
                if (!mine.equals("left")) {
                    turns.acquireUninterruptibly();
                }
                try {
                    service.create(Item.MUG);
                } catch (RolledBack e) {
                    turns.release();
                } catch (SQLException e) {
                    say("failed " + e, null);
                    Runtime.getRuntime().halt(1);
                }
            });
            thread.start();
            if (mine.equals("rolled-back")) {
                thread.join();
            }
        }
        arrived.await();
        System.out.flush();
        Runtime.getRuntime().halt(HALTED);
    }

    private static void standStill(CountDownLatch arrived) {
        arrived.countDown();
        while (true) {
            java.util.concurrent.locks.LockSupport.park();
        }
    }

    private static synchronized void say(String what, io.minutehand.orders.Order order) {
        System.out.println(what + (order == null ? "" : " " + order.id()));
        System.out.flush();
    }
}
