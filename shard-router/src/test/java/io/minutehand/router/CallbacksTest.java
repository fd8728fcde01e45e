package io.minutehand.router;

import static io.minutehand.router.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallbacksTest {
    private final Callbacks callbacks = new Callbacks("test");

    @AfterEach
    void end() {
        callbacks.close();
    }

    @Test
    void shouldDeliverInOrderOnAThreadOfItsOwn() {
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        CompletableFuture<Boolean> marked = new CompletableFuture<>();
        for (int i = 0; i < 1000; i++) {
            int number = i;
            callbacks.add(() -> order.add(number));
        }
        callbacks.add(() -> marked.complete(Callbacks.onCallbackThread()));
        callbacks.wake();
        assertThat(marked.join()).isTrue();
        assertThat(order.stream().toList()).isSorted().hasSize(1000);
        assertThat(Callbacks.onCallbackThread()).isFalse();
    }

    @Test
    void shouldGoOnAfterAFailure() {
        CompletableFuture<Void> after = new CompletableFuture<>();
        callbacks.add(() -> {
            throw new IllegalStateException("a test throws this");
        });
        callbacks.add(() -> after.complete(null));
        callbacks.wake();
        after.orTimeout(10, TimeUnit.SECONDS).join();
    }

    @Test
    void shouldDeliverWhatABlockedCallbackWaitsFor() {
        CompletableFuture<Void> second = new CompletableFuture<>();
        CompletableFuture<Void> first = new CompletableFuture<>();
        callbacks.add(() -> {
            second.join();
            first.complete(null);
        });
        callbacks.add(() -> second.complete(null));
        callbacks.wake();
        await("a second thread takes over").until(() -> {
            callbacks.tick();
            return first.isDone();
        });
    }

    @Test
    void shouldDeliverAfterItsEnd() {
        callbacks.close();
        CompletableFuture<Void> late = new CompletableFuture<>();
        callbacks.add(() -> late.complete(null));
        callbacks.wake();
        assertThat(late).isCompleted();
    }
}
