package io.minutehand.router.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.router.http.Items.Outcome;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One stream of jobs, a line each, answered by a line each, in order, and a summary at the end. However long it is, it holds a window of jobs without
 * an answer, a line and a chunk: when the window is full, the key has used up its rate, or the client does not read its answers, it stops reading.
 * Belongs to its call's event loop.
 */
final class NdjsonStream {
    /** Jobs without an answer, at most, but for those of one chunk. */
    private static final int WINDOW_JOBS = 1024;

    private static final int WINDOW_BYTES = 1024 * 1024;

    /** A job whose answer is outstanding, or waits for those before it. */
    private record Open(CompletableFuture<Outcome> outcome, int bytes) {}

    private final Call call;
    private final HttpServerResponse response;
    private final Items items;
    private final Lines lines;
    private final boolean onlyRejected;

    private final ArrayDeque<Open> open = new ArrayDeque<>();
    private final AtomicBoolean flushing = new AtomicBoolean();
    private long openBytes;
    private long index;
    private long accepted;
    private long rejected;
    private boolean allCame;
    private boolean paused;
    /** Whether the key's rate is used up. */
    private boolean usedUp;

    private boolean over;

    /** @param lineBytes of a line, at most; {@code onlyRejected}: jobs that are stored get no line */
    NdjsonStream(Call call, Items items, int lineBytes, boolean onlyRejected) {
        this.call = call;
        this.response = call.response();
        this.items = items;
        this.lines = new Lines(lineBytes);
        this.onlyRejected = onlyRejected;
    }

    void begin() {
        call.streaming(this::abort);
        call.head(200, BatchResource.NDJSON);
        response.setChunked(true);
        response.drainHandler(drained -> goOn());
        call.request().handler(chunk -> {
            call.arriving();
            lines.add(chunk.getBytes());
            goOn();
        });
        call.request().endHandler(end -> {
            allCame = true;
            goOn();
        });
    }

    /** Takes lines while it may, and sees to it that more come, or none. */
    private void goOn() {
        if (over || call.answered()) {
            return;
        }
        try {
            boolean full;
            do {
                full = take();
                flush();
                // When all answers of a window had come before this look, nobody is left who would come back here.
            } while (full && !over && mayTake());
        } catch (RuntimeException failed) {
            call.fail(failed);
        }
    }

    /** Takes lines; true when it stopped for want of room. */
    private boolean take() {
        while (mayTake()) {
            byte[] line;
            try {
                line = lines.next(allCame);
            } catch (Problem tooLong) {
                add(new Open(CompletableFuture.completedFuture(new Outcome(null, null, tooLong)), 0));
                continue;
            }
            if (line == null) {
                return false;
            }
            // A stream may outlive its key.
            call.renewKey();
            long waitNs = Gate.owed(call.key(), 1);
            if (waitNs > 0) {
                lines.again(line);
                usedUp = true;
                call.context().owner().setTimer(1 + TimeUnit.NANOSECONDS.toMillis(waitNs), later -> {
                    usedUp = false;
                    goOn();
                });
                return false;
            }
            add(new Open(items.schedule(call, line), line.length));
        }
        return true;
    }

    private boolean mayTake() {
        return !usedUp && open.size() < WINDOW_JOBS && openBytes < WINDOW_BYTES && !response.writeQueueFull();
    }

    private void add(Open job) {
        open.add(job);
        openBytes += job.bytes();
        job.outcome().whenComplete((outcome, failure) -> {
            if (flushing.compareAndSet(false, true)) {
                call.context().runOnContext(now -> {
                    flushing.set(false);
                    goOn();
                });
            }
        });
    }

    /** Writes the answers that are there, in order. */
    private void flush() {
        Buffer out = null;
        Open first;
        while ((first = open.peek()) != null && first.outcome().isDone()) {
            open.remove();
            openBytes -= first.bytes();
            ObjectNode body = Json.MAPPER.createObjectNode();
            boolean stored = items.tell(body, call, index++, first.outcome().join());
            accepted += stored ? 1 : 0;
            rejected += stored ? 0 : 1;
            if (!stored || !onlyRejected) {
                out = line(out, body);
            }
        }
        boolean atEnd = allCame && open.isEmpty() && lines.isEmpty();
        if (atEnd) {
            over = true;
            ObjectNode summary = Json.MAPPER.createObjectNode();
            summary.putObject("summary").put("accepted", accepted).put("rejected", rejected);
            response.end(line(out, summary));
            call.streamed();
        } else {
            if (out != null) {
                response.write(out);
            }
            pause(!mayTake());
        }
    }

    private static Buffer line(@Nullable Buffer before, ObjectNode body) {
        Buffer out = before == null ? Buffer.buffer(1024) : before;
        try {
            return out.appendBytes(Json.MAPPER.writeValueAsBytes(body)).appendByte((byte) '\n');
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a line cannot be written", impossible);
        }
    }

    /**
     * Reads no more for now, or on. The client's time runs while it is waited for, and while it does not read its answers; not while it may wait for
     * answers itself.
     */
    private void pause(boolean now) {
        call.paused((now || allCame || !open.isEmpty()) && !response.writeQueueFull());
        if (allCame || paused == now) {
            return;
        }
        paused = now;
        if (now) {
            call.request().pause();
        } else {
            call.request().resume();
        }
    }

    /** Ends it before its end: a line says why, behind which the connection is closed. */
    private void abort(Problem problem) {
        if (over) {
            return;
        }
        over = true;
        ObjectNode body = Json.MAPPER.createObjectNode();
        body.put("index", index);
        Items.tell(body, problem);
        if (response.writeQueueFull()) {
            // It does not read: it would not read this either.
            call.cut();
        } else {
            response.end(line(null, body))
                    .onComplete(sent -> call.request().connection().close());
        }
        call.streamed();
    }
}
