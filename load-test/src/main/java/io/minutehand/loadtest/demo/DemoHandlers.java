package io.minutehand.loadtest.demo;

import io.minutehand.loadtest.fleet.NotedHandler;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.ledger.LedgerRecord.Dead;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.worker.JobContext;
import io.minutehand.worker.JobHandler;
import io.minutehand.worker.TopicOptions;
import io.minutehand.worker.WorkerNode;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handlers of the demo, each inside a note in the ledger: a start before it does anything, an end when it is over.
 * Thread-safe.
 */
final class DemoHandlers {
    private static final Logger LOG = LoggerFactory.getLogger(DemoHandlers.class);

    /** Of a thousand webhook calls so many fail once, and so many receivers never answer. */
    private static final int FAILS_PER_MILLE = 40;

    private static final int GONE_PER_MILLE = 10;

    private final String node;
    private final int shards;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final OrderTable orders;

    DemoHandlers(String node, int shards, LedgerWriter ledger, RedisClock clock, OrderTable orders) {
        this.node = node;
        this.shards = shards;
        this.ledger = ledger;
        this.clock = clock;
        this.orders = orders;
    }

    /** Registers the handlers of these topics and of the warm-up. */
    void register(WorkerNode.Builder builder, Set<DemoTopic> topics) {
        handle(builder, DemoTopic.WARMUP, Payloads.WarmUp.class, (payload, job) -> {});
        for (DemoTopic topic : topics) {
            switch (topic) {
                case CLOSE_ORDER -> handle(builder, topic.topic(), Payloads.CloseOrder.class, this::closeOrder);
                case RENDER_REPORT -> handle(builder, topic.topic(), Payloads.RenderReport.class, this::renderReport);
                case CALL_WEBHOOK -> handle(builder, topic.topic(), Payloads.CallWebhook.class, this::callWebhook);
            }
        }
    }

    private void closeOrder(Payloads.CloseOrder payload, JobContext job) {
        OrderTable.Status status = orders.status(payload.order());
        if (status != OrderTable.Status.WAIT_PAY) {
            LOG.debug("demo: skip order={} status={} attempt={}", payload.order(), status, job.attempt());
            return;
        }
        int closed = orders.closeIfUnpaid(payload.order());
        if (closed == 0) {
            // Paid, or closed by an earlier delivery, since the look: nothing to do, and no error.
            LOG.debug("demo: skip order={} attempt={}", payload.order(), job.attempt());
        }
    }

    private void renderReport(Payloads.RenderReport payload, JobContext job) throws InterruptedException {
        // Waiting stands for a renderer elsewhere: burning the cores here would measure the renderer.
        Thread.sleep(payload.renderMs());
    }

    private void callWebhook(Payloads.CallWebhook payload, JobContext job) throws WebhookException {
        if (Dice.hits(payload.event(), 4, GONE_PER_MILLE)) {
            throw new WebhookException("no answer from " + payload.url());
        }
        if (Dice.hits(payload.event(), 4 + job.attempt(), FAILS_PER_MILLE)) {
            throw new WebhookException("503 from " + payload.url());
        }
    }

    private <T> void handle(WorkerNode.Builder builder, String topic, Class<T> type, JobHandler<T> work) {
        TopicOptions options = TopicOptions.defaults()
                .onDead((job, cause) ->
                        ledger.append(new Dead(job.id(), job.topic(), job.attempt(), node, clock.nowUs())));
        builder.declare(topic, DemoTopic.settings(topic, shards));
        builder.handle(topic, type, options, new NotedHandler<>(node, shards, ledger, clock, work));
    }

    /** The receiver did not take the call. */
    static final class WebhookException extends Exception {
        private static final long serialVersionUID = 1L;

        WebhookException(String message) {
            super(message);
        }
    }
}
