package io.minutehand.loadtest.demo;

import io.minutehand.core.job.RetryPolicy;
import io.minutehand.core.topic.TopicSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The topics of the demo, and which of them a job belongs to. */
enum DemoTopic {
    /** Closes an order that is still unpaid when its time to pay is over. */
    CLOSE_ORDER("order.close.timeout", "order:"),
    /** Renders a report: slow, 50 to 300 ms. */
    RENDER_REPORT("report.render", "report:"),
    /** Calls a receiver that fails now and then. */
    CALL_WEBHOOK("webhook.callback", "webhook:");

    /** The topic of the warm-up jobs, which are in no figure. */
    static final String WARMUP = "warmup";

    static final String WARMUP_ID_PREFIX = "warm:";

    /** The delay before each retry of a webhook call, and how many there are. */
    static final Duration WEBHOOK_RETRY_DELAY = Duration.ofMillis(500);

    private static final int WEBHOOK_RETRIES = 3;

    /** Of ten jobs in a row six close orders, three call webhooks, one renders. */
    private static final List<DemoTopic> MIX = List.of(
            CLOSE_ORDER,
            CALL_WEBHOOK,
            CLOSE_ORDER,
            CLOSE_ORDER,
            CALL_WEBHOOK,
            CLOSE_ORDER,
            RENDER_REPORT,
            CLOSE_ORDER,
            CALL_WEBHOOK,
            CLOSE_ORDER);

    private final String topic;
    private final String idPrefix;

    DemoTopic(String topic, String idPrefix) {
        this.topic = topic;
        this.idPrefix = idPrefix;
    }

    /** Returns the topic's name. */
    String topic() {
        return topic;
    }

    /** Returns the id of job {@code number}; no two topics share one. */
    String id(long number) {
        return idPrefix + number;
    }

    /**
     * Returns the settings of a topic of the demo, which routers and workers declare alike: who comes first creates it.
     *
     * @param topic its name; {@link #WARMUP} too
     */
    static TopicSettings settings(String topic, int shards) {
        TopicSettings settings = TopicSettings.defaults().withShards(shards);
        return topic.equals(CALL_WEBHOOK.topic)
                ? settings.withRetry(RetryPolicy.fixed(WEBHOOK_RETRY_DELAY, WEBHOOK_RETRIES))
                : settings;
    }

    /** Returns the names of all topics of the demo. */
    static List<String> names() {
        return Stream.of(values()).map(DemoTopic::topic).toList();
    }

    /**
     * Returns the topic of that name.
     *
     * @throws IllegalArgumentException if the demo has none
     */
    static DemoTopic named(String name) {
        return Stream.of(values())
                .filter(value -> value.topic.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "the demo has no topic " + name + ", only " + String.join(", ", names())));
    }

    /** Returns the mix of the topics, in proportion: job i belongs to element i modulo the length. */
    static List<DemoTopic> mix(Set<DemoTopic> of) {
        return MIX.stream().filter(of::contains).collect(Collectors.toCollection(ArrayList::new));
    }
}
