package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.store.EventLog.Event;
import io.minutehand.core.store.History.Sent;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What makes a history of calls at once impossible. */
class HistoryTest {
    private static final ModelOp MINE = new ModelOp.Claim(1, 7, true);
    private static final ModelOp ANOTHERS = new ModelOp.Claim(2, 7, true);
    private static final ModelOp FIND = new ModelOp.Find("a");

    private final History history = new History(new ShardModel());

    @Test
    void shouldTakeCallsAtOnceInWhateverOrderTheServerRanThem() {
        assertThat(replayed(
                        List.of(event(1, Script.CLAIM), event(0, Script.CLAIM), event(0, Script.FIND)),
                        List.of(new Sent(MINE, "false", 10, 50), new Sent(FIND, "none", 60, 70)),
                        List.of(new Sent(ANOTHERS, "true", 20, 40))))
                .isEmpty();
        assertThat(history.order()).containsExactly(ANOTHERS, MINE, FIND);
        assertThat(history.overtaken()).isOne();
    }

    @Test
    void shouldNoticeAnAnswerThatDoesNotFitThatOrder() {
        assertThat(replayed(
                        List.of(event(1, Script.CLAIM), event(0, Script.CLAIM)),
                        List.of(new Sent(MINE, "true", 10, 50)),
                        List.of(new Sent(ANOTHERS, "true", 20, 40))))
                .hasValueSatisfying(
                        difference -> assertThat(difference).contains("reply is true, the model says false"));
    }

    @Test
    void shouldNoticeACallThatRanAfterOneThatWasCalledWhenItHadReturned() {
        assertThat(replayed(
                        List.of(event(1, Script.CLAIM), event(0, Script.CLAIM)),
                        List.of(new Sent(MINE, "false", 10, 15)),
                        List.of(new Sent(ANOTHERS, "true", 20, 40))))
                .hasValueSatisfying(difference -> assertThat(difference).contains("returned 5 ns before"));
    }

    @Test
    void shouldNoticeAnAnswerWithoutAScript() {
        assertThat(replayed(
                        List.of(event(0, Script.CLAIM)),
                        List.of(new Sent(MINE, "true", 10, 50)),
                        List.of(new Sent(ANOTHERS, "false", 20, 40))))
                .hasValueSatisfying(difference -> assertThat(difference).contains("no script ran"));
    }

    @Test
    void shouldNoticeAScriptThatNobodyCalled() {
        List<Event> twice = List.of(event(0, Script.CLAIM), event(0, Script.CLAIM));

        assertThat(replayed(twice, List.of(new Sent(MINE, "true", 10, 50)), List.of()))
                .hasValueSatisfying(difference -> assertThat(difference).contains("but its process called null"));
    }

    private Optional<String> replayed(List<Event> log, List<Sent> first, List<Sent> second) {
        return history.replay(log, Map.of(0, first, 1, second));
    }

    private static Event event(int process, Script script) {
        return new Event(process, script, TestStore.START_MS, List.of(), List.of("?"));
    }
}
