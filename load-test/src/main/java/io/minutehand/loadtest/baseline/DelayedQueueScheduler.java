package io.minutehand.loadtest.baseline;

import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.baseline.Scheduler.Target;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.redis.RedisCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;

/** Redisson's delayed queue: the client that opened it moves what is due to a list, from which workers take. */
final class DelayedQueueScheduler {
    /** Threads that take, in a worker: each waits for the answer of one blocking call at a time. */
    private static final int TAKERS = 8;

    private static final long TAKE_MS = 500;

    private DelayedQueueScheduler() {}

    private static RBlockingQueue<byte[]> queue(RedissonClient client, Target target) {
        return client.getBlockingQueue(target.key("due"));
    }

    static final class Producer implements Sender {
        private final RedissonClient client;
        private final RDelayedQueue<byte[]> delayed;
        private final RedisClock clock;

        @SuppressWarnings("deprecation") // what is measured is what people have
        Producer(Target target) {
            this.client = PlainRedisson.connect(target);
            this.delayed = client.getDelayedQueue(queue(client, target));
            this.clock = RedisClock.watch(RedisCommands.connect(target.redis()));
        }

        @Override
        public void send(String id, byte[] payload, long dueUs, Consumer<Boolean> answered) {
            // Up to a whole millisecond: it cuts off what is less, and would be early.
            long delayMs = Math.max(0, dueUs - clock.nowUs() + 999) / 1_000;
            delayed.offerAsync(payload, delayMs, TimeUnit.MILLISECONDS)
                    .whenComplete((nothing, failure) -> answered.accept(failure == null));
        }

        @Override
        public long sendAll(List<Order> orders) {
            return Pipelined.sendAll(this, orders);
        }

        @Override
        public void close() {
            clock.close();
            client.shutdown();
        }
    }

    static final class Worker implements AutoCloseable {
        private final RedissonClient client;
        private final RDelayedQueue<byte[]> delayed;
        private final List<Thread> takers = new ArrayList<>();
        private volatile boolean closed;

        @SuppressWarnings("deprecation") // what is measured is what people have
        Worker(Target target, String name, Consumer<byte[]> handler) {
            this.client = PlainRedisson.connect(target);
            RBlockingQueue<byte[]> queue = queue(client, target);
            // Whoever opens it moves what is due: the producers may have gone.
            this.delayed = client.getDelayedQueue(queue);
            for (int i = 0; i < TAKERS; i++) {
                Thread taker = new Thread(() -> take(queue, handler), "takes-" + i + "-of-" + name);
                takers.add(taker);
                taker.start();
            }
        }

        private void take(RBlockingQueue<byte[]> queue, Consumer<byte[]> handler) {
            while (!closed) {
                try {
                    byte[] payload = queue.poll(TAKE_MS, TimeUnit.MILLISECONDS);
                    if (payload != null) {
                        handler.accept(payload);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }

        @Override
        public void close() {
            closed = true;
            takers.forEach(Scheduler::join);
            delayed.destroy();
            client.shutdown();
        }
    }
}
