package io.minutehand.loadtest.local;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A client of several routers that does what the README asks of one: a call that got no answer, or 429, 503 or 504, is sent again with the same ids, to the
 * next router. It sends by the clock, whatever became of the calls before, in batches of a fiftieth of a second: one call for each job would cost a core.
 */
final class HttpProducer implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BATCHES_A_SECOND = 50;

    /** Patient: on a machine that is busy with other things a router is slow, and no router is down. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(45);

    private static final long AGAIN_MS = 500;
    private static final int LEAST_DELAY_MS = 1000;
    private static final int MOST_DELAY_MS = 4000;

    private final List<URI> routers;

    private final String topic;
    private final String key;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CALL_LIMIT)
            .build();
    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger nextRouter = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicLong acceptedAtNs = new AtomicLong();
    private final AtomicLong longestStallNs = new AtomicLong();
    private final Set<String> accepted = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Integer> refusals = new ConcurrentSkipListMap<>();
    private final Queue<String> faults = new ConcurrentLinkedQueue<>();
    private @Nullable ScheduledFuture<?> producing;

    /** A job as it is sent, each time the same. */
    private record Item(String id, int delayMs) {}

    HttpProducer(List<URI> routers, String topic, String key) {
        this.routers = List.copyOf(routers);
        this.topic = topic;
        this.key = key;
    }

    /** Produces so many jobs a second, due within four seconds, until {@link #settle()}. */
    void produce(int rate) {
        acceptedAtNs.set(System.nanoTime());
        int jobs = rate / BATCHES_A_SECOND;
        producing = executor.scheduleAtFixedRate(
                () -> produceOne(jobs), 0, TimeUnit.SECONDS.toNanos(1) / BATCHES_A_SECOND, TimeUnit.NANOSECONDS);
    }

    private void produceOne(int jobs) {
        List<Item> batch = new ArrayList<>(jobs);
        for (int i = 0; i < jobs; i++) {
            batch.add(new Item(
                    "job-" + next.getAndIncrement(),
                    ThreadLocalRandom.current().nextInt(LEAST_DELAY_MS, MOST_DELAY_MS)));
        }
        open.incrementAndGet();
        send(batch, nextRouter.getAndIncrement(), 0);
    }

    /** @param silent how many calls with these jobs got no answer, in a row */
    private void send(List<Item> batch, int router, int silent) {
        calls.incrementAndGet();
        HttpRequest request = HttpRequest.newBuilder(
                        routers.get(Math.floorMod(router, routers.size())).resolve("/v1/jobs:batch"))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .timeout(CALL_LIMIT)
                .POST(BodyPublishers.ofString(text(batch)))
                .build();
        CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, BodyHandlers.ofString());
        answer.whenComplete((response, failure) -> {
            try {
                if (failure != null) {
                    unanswered(batch, router, silent + 1, failure);
                } else {
                    answered(batch, router, response);
                }
            } catch (JsonProcessingException | RuntimeException broken) {
                faults.add("an answer that cannot be read: " + broken);
                open.decrementAndGet();
            }
        });
    }

    private String text(List<Item> batch) {
        StringBuilder text = new StringBuilder("[");
        for (Item item : batch) {
            text.append(text.length() == 1 ? "" : ",")
                    .append("{\"topic\":\"")
                    .append(topic)
                    .append("\",\"id\":\"")
                    .append(item.id)
                    .append("\",\"delay\":")
                    .append(item.delayMs)
                    .append(",\"payload\":{\"id\":\"")
                    .append(item.id)
                    .append("\"}}");
        }
        return text.append(']').toString();
    }

    private void unanswered(List<Item> batch, int router, int silent, Throwable failure) {
        unanswered.incrementAndGet();
        // Each router has been asked once before the call counts as failed.
        if (silent < routers.size()) {
            send(batch, router + 1, silent);
            return;
        }
        failed.incrementAndGet();
        faults.add(Instant.now() + " no router answered, " + routers.get(Math.floorMod(router, routers.size()))
                + " neither: " + causes(failure));
        again(batch, router);
    }

    private static String causes(Throwable failure) {
        StringBuilder causes = new StringBuilder(failure.toString());
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            causes.append(" <- ").append(cause);
        }
        return causes.toString();
    }

    private void answered(List<Item> batch, int router, HttpResponse<String> response) throws JsonProcessingException {
        if (response.statusCode() != 200) {
            refused(response.statusCode(), batch.size(), response.body());
            again(batch, router);
            return;
        }
        List<Item> left = new ArrayList<>();
        for (JsonNode result : JSON.readTree(response.body()).path("results")) {
            Item item = batch.get(result.path("index").asInt());
            int status = result.path("status").asInt();
            if (status == 200 || status == 201) {
                accepted.add(item.id);
            } else {
                refused(status, 1, result.toString());
                left.add(item);
            }
        }
        if (left.size() < batch.size()) {
            long nowNs = System.nanoTime();
            longestStallNs.accumulateAndGet(nowNs - acceptedAtNs.getAndSet(nowNs), Math::max);
        }
        if (left.isEmpty()) {
            open.decrementAndGet();
        } else {
            again(left, router);
        }
    }

    private void refused(int status, int jobs, String why) {
        refusals.merge(status, jobs, Integer::sum);
        if (status != 429 && status != 503 && status != 504) {
            faults.add("status " + status + ": " + why);
        }
    }

    private void again(List<Item> batch, int router) {
        executor.schedule(() -> send(batch, router + 1, 0), AGAIN_MS, TimeUnit.MILLISECONDS);
    }

    int accepted() {
        return accepted.size();
    }

    /** Calls that no router answered. */
    int failed() {
        return failed.get();
    }

    /** What should not have happened, at most a few. */
    List<String> faults() {
        return faults.stream().limit(10).toList();
    }

    /** The jobs that were acknowledged. */
    Set<String> jobs() {
        return accepted;
    }

    /** Waits until so many jobs more have been accepted than by now. */
    void awaitAccepted(int more) {
        int wanted = accepted() + more;
        await("the routers accept " + wanted + " jobs")
                .atMost(Duration.ofMinutes(2))
                .until(() -> accepted() >= wanted);
    }

    /** Produces no more, and waits until every job is accepted. */
    void settle() {
        ScheduledFuture<?> load = producing;
        if (load != null) {
            load.cancel(false);
        }
        await("every job is accepted: " + open + " batches are open, " + faults())
                .atMost(Duration.ofMinutes(2))
                .until(() -> open.get() == 0);
    }

    /** Figures, for people. */
    String figures() {
        return "accepted=" + accepted.size() + " calls=" + calls + " repeated_at_other_router=" + unanswered
                + " failed_calls=" + failed + " refused_jobs_by_status=" + refusals
                + " longest_time_without_accepted_ms="
                + TimeUnit.NANOSECONDS.toMillis(longestStallNs.get());
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
