package io.minutehand.loadtest.baseline;

import io.minutehand.core.job.JobSpec;
import io.minutehand.core.topic.TopicSettings;
import io.minutehand.loadtest.baseline.Scheduler.Order;
import io.minutehand.loadtest.baseline.Scheduler.Sender;
import io.minutehand.loadtest.baseline.Scheduler.Target;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import io.minutehand.worker.WorkerNode;
import io.minutehand.worker.WorkerSettings;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Consumer;

/** The product, used as its README says, with default settings. */
final class MinutehandScheduler {
    private MinutehandScheduler() {}

    private static TopicSettings topic(Target target) {
        return TopicSettings.defaults().withShards(target.shards());
    }

    static Sender sender(Target target) {
        JobRouter router = JobRouter.builder()
                .redis(target.redis())
                .namespace(target.namespace())
                .declare(Target.TOPIC, topic(target))
                .connect();
        TopicHandle<byte[]> topic = router.topic(Target.TOPIC);
        return new Sender() {
            @Override
            public void send(String id, byte[] payload, long dueUs, Consumer<Boolean> answered) {
                topic.schedule(spec(id, payload, dueUs))
                        .whenComplete((result, failure) -> answered.accept(failure == null && result.accepted()));
            }

            @Override
            public long sendAll(List<Order> orders) {
                return topic.scheduleAll(orders.stream()
                                .map(order -> spec(order.id(), order.payload(), order.dueUs()))
                                .toList())
                        .join()
                        .accepted();
            }

            @Override
            public void close() {
                router.close();
            }
        };
    }

    private static JobSpec<byte[]> spec(String id, byte[] payload, long dueUs) {
        return JobSpec.of(payload).id(id).at(Instant.EPOCH.plus(dueUs, ChronoUnit.MICROS));
    }

    static AutoCloseable worker(Target target, String name, Consumer<byte[]> handler) {
        return WorkerNode.builder()
                .redis(target.redis())
                .namespace(target.namespace())
                .name(name)
                .settings(WorkerSettings.defaults().withSlots(target.slots()))
                .declare(Target.TOPIC, topic(target))
                .handle(Target.TOPIC, (payload, job) -> handler.accept(payload))
                .start();
    }
}
