package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HandlerThreadsTest {
    private static boolean isVirtual(Thread thread) throws ReflectiveOperationException {
        return Runtime.version().feature() >= 21
                && (boolean) Thread.class.getMethod("isVirtual").invoke(thread);
    }

    @Test
    void shouldUseVirtualThreadsWhereTheJvmHasThem() throws Exception {
        ExecutorService threads = HandlerThreads.open("test");
        try {
            Thread thread = threads.submit(Thread::currentThread).get(5, TimeUnit.SECONDS);
            assertThat(isVirtual(thread)).isEqualTo(Runtime.version().feature() >= 21);
            if (Runtime.version().feature() < 21) {
                assertThat(thread.getName()).startsWith("test-handler-");
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void shouldRunAsManyTasksAtOnceAsAreGiven() throws Exception {
        ExecutorService threads = HandlerThreads.open("test");
        try {
            CountDownLatch met = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                threads.execute(() -> {
                    met.countDown();
                    try {
                        met.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            assertThat(met.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            threads.shutdownNow();
        }
    }
}
