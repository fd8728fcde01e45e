package io.minutehand.worker;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that handlers run on: virtual ones where the JVM has them (21 and newer), else a pool that grows to the number of slots. */
final class HandlerThreads {
    private HandlerThreads() {}

    static ExecutorService open(String name) {
        try {
            // By reflection, since the code is compiled for Java 17.
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException olderJvm) {
            AtomicInteger count = new AtomicInteger();
            ThreadFactory threads = task -> new Thread(task, name + "-handler-" + count.incrementAndGet());
            return Executors.newCachedThreadPool(threads);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("cannot open virtual threads", e);
        }
    }
}
