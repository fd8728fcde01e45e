package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.store.StoreException.Kind;
import io.minutehand.core.store.TestFailures;
import io.minutehand.core.telemetry.Telemetry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StoreCallsTest {
    private static final long HEDGE_MS = 100;
    private static final long TIMEOUT_MS = 1000;

    private final List<CompletableFuture<String>> sent = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private long nowNs;
    private boolean wanted = true;
    private final DueTimer timer = new DueTimer("test", () -> nowNs);
    private final StoreCalls calls = new StoreCalls(timer, new Telemetry() {
        @Override
        public void count(Counter counter, String topic, long events) {}

        @Override
        public void lateness(String topic, long latenessUs) {}

        @Override
        public void handlerTime(String topic, long elapsedUs) {}
    });

    @BeforeEach
    void send() {
        call();
        assertThat(sent).hasSize(1);
    }

    private void call() {
        calls.repeat(
                "orders",
                () -> wanted,
                () -> {
                    CompletableFuture<String> reply = new CompletableFuture<>();
                    sent.add(reply);
                    return reply;
                },
                (value, failure, tries) ->
                        answers.add((failure == null ? value : failure.kind()) + " " + tries.sent()));
    }

    private void pass(long ms) {
        nowNs += TimeUnit.MILLISECONDS.toNanos(ms);
        timer.runOnce();
    }

    private void fail(int call, Kind kind) {
        sent.get(call).completeExceptionally(TestFailures.of(kind));
    }

    @Test
    void shouldNotSendTwiceWhatIsAnsweredInTime() {
        pass(HEDGE_MS - 1);
        sent.get(0).complete("a");
        pass(TIMEOUT_MS);

        assertThat(answers).containsExactly("a 1");
        assertThat(sent).hasSize(1);
    }

    @Test
    void shouldSendOnceMoreWhatIsNotAnsweredInTimeAndOnceAgain() {
        pass(HEDGE_MS);
        assertThat(sent).hasSize(2);
        pass(2 * HEDGE_MS - 1);
        assertThat(sent).hasSize(2);
        pass(1);
        assertThat(sent).hasSize(3);
        pass(TIMEOUT_MS / 2);

        assertThat(sent).as("not a fourth time").hasSize(3);
        sent.get(1).complete("b");
        assertThat(answers).containsExactly("b 3");
    }

    @Test
    void shouldTakeTheFirstAnswerAlone() {
        pass(HEDGE_MS);
        sent.get(0).complete("a");
        sent.get(1).complete("b");
        pass(TIMEOUT_MS);

        assertThat(answers).containsExactly("a 2");
        assertThat(sent).hasSize(2);
    }

    @Test
    void shouldWaitForTheSecondWhenTheFirstIsGivenUp() {
        pass(HEDGE_MS);
        fail(0, Kind.UNKNOWN);
        assertThat(answers).isEmpty();

        sent.get(1).complete("b");
        pass(TIMEOUT_MS);
        assertThat(answers).containsExactly("b 2");
        assertThat(sent).hasSize(2);
    }

    @Test
    void shouldRepeatWhenBothAreGivenUp() {
        pass(HEDGE_MS);
        fail(0, Kind.UNKNOWN);
        fail(1, Kind.UNKNOWN);
        pass(50);

        assertThat(sent).hasSize(3);
        sent.get(2).complete("c");
        assertThat(answers).containsExactly("c 3");
    }

    @Test
    void shouldRepeatAndHedgeTheRepeat() {
        fail(0, Kind.UNKNOWN);
        pass(50);
        assertThat(sent).hasSize(2);
        pass(HEDGE_MS);
        assertThat(sent).hasSize(3);
        sent.get(2).complete("c");
        assertThat(answers).containsExactly("c 3");
    }

    @Test
    void shouldGiveUpAtOnceWhatIsRefusedForGood() {
        pass(HEDGE_MS);
        fail(1, Kind.REFUSED);
        sent.get(0).complete("a");

        assertThat(answers).containsExactly("REFUSED 2");
    }

    @Test
    void shouldNotRepeatWhatIsNotWantedAnyMore() {
        wanted = false;
        pass(HEDGE_MS);
        assertThat(sent).as("nor send it once more").hasSize(1);
        fail(0, Kind.UNKNOWN);

        assertThat(answers).containsExactly("UNKNOWN 1");
    }

    /** A Redis far away must not get each call twice. */
    @Test
    void shouldLearnHowLongAnAnswerTakes() {
        sent.get(0).complete("a");
        for (int i = 0; i < 100; i++) {
            call();
            int first = sent.size() - 1;
            pass(HEDGE_MS + 50);
            sent.subList(first, sent.size()).forEach(reply -> reply.complete("x"));
        }

        assertThat(sent.size()).as("sent for 101 calls").isLessThan(110);
        assertThat(answers).hasSize(101);
    }

    /** A node that lost answers lately must not judge others; that one was merely late is no reason. */
    @Test
    void shouldTellFailuresFromWhatWasSentTwice() {
        List<StoreCalls.Tries> seen = new ArrayList<>();
        List<CompletableFuture<String>> replies = new ArrayList<>();
        calls.repeat(
                "orders",
                () -> true,
                () -> {
                    replies.add(new CompletableFuture<>());
                    return replies.get(replies.size() - 1);
                },
                (value, failure, tries) -> seen.add(tries));
        pass(HEDGE_MS);
        replies.get(0).completeExceptionally(TestFailures.of(Kind.UNKNOWN));
        replies.get(1).complete("a");

        assertThat(seen).containsExactly(new StoreCalls.Tries(2, 1));
        assertThat(seen.get(0).repeated()).isTrue();
    }

    @Test
    void shouldKeepTheOrderOfManyCalls() {
        pass(30);
        call();
        pass(HEDGE_MS - 30);
        assertThat(sent).as("the first alone is late").hasSize(3);
        sent.get(1).complete("b");
        pass(HEDGE_MS);

        assertThat(sent).hasSize(3);
        assertThat(answers).containsExactly("b 1");
    }
}
