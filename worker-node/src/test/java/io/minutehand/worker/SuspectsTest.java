package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SuspectsTest {
    private final TopicWork one = Fixtures.topic("one", TopicOptions.defaults());
    private final TopicWork two = Fixtures.topic("two", TopicOptions.defaults());
    private final List<TopicWork> full = new ArrayList<>();
    private final List<Running> started = new ArrayList<>();
    private final List<Shard> woken = new ArrayList<>();
    private final Shard left = Fixtures.shard(one, 1);
    private final Shard right = Fixtures.shard(one, 2);
    private final Suspects suspects = new Suspects(topic -> !full.contains(topic), started::add, woken::add);

    private Running job(TopicWork topic, String id) {
        Running job = Fixtures.running(Fixtures.shard(topic, 0), id, 2);
        job.slotted = false;
        suspects.add(job);
        return job;
    }

    @Test
    void shouldRunOneAtATimeInTheirOrder() {
        Running a = job(one, "a");
        Running b = job(one, "b");
        suspects.next();
        suspects.next();
        assertThat(started).containsExactly(a);
        assertThat(a.slotted).isTrue();
        assertThat(b.slotted).isFalse();
        suspects.ended(b);
        suspects.next();
        assertThat(started).containsExactly(a);
        suspects.ended(a);
        suspects.next();
        assertThat(started).containsExactly(a, b);
    }

    @Test
    void shouldPassOverAJobWhoseTopicHasNoSlot() {
        Running a = job(one, "a");
        Running b = job(two, "b");
        full.add(one);
        suspects.next();
        assertThat(started).containsExactly(b);
        suspects.ended(b);
        suspects.next();
        assertThat(started).containsExactly(b);
        full.clear();
        suspects.next();
        assertThat(started).containsExactly(b, a);
    }

    @Test
    void shouldForgetAJobThatLeavesTheLine() {
        Running a = job(one, "a");
        assertThat(suspects.remove(a)).isTrue();
        assertThat(suspects.remove(a)).isFalse();
        suspects.next();
        assertThat(started).isEmpty();
    }

    @Test
    void shouldTakeOverOneAtATime() {
        assertThat(suspects.expect(left)).isTrue();
        assertThat(suspects.expect(right)).as("one is under way").isFalse();
        Running a = job(one, "a");
        suspects.next();
        suspects.came();
        assertThat(suspects.expect(left)).as("one runs").isFalse();
        assertThat(woken).isEmpty();
        suspects.ended(a);
        suspects.next();
        assertThat(woken).as("told in the order in which they asked").containsExactly(right, left);
        assertThat(suspects.expect(left)).isTrue();
    }

    @Test
    void shouldTellTheNextShardWhenNothingCame() {
        assertThat(suspects.expect(left)).isTrue();
        assertThat(suspects.expect(right)).isFalse();
        suspects.came();
        assertThat(woken).containsExactly(right);
        suspects.came();
        assertThat(woken).as("once").hasSize(1);
    }

    @Test
    void shouldNotTakeOverWhileAnotherWaitsForASlot() {
        full.add(one);
        Running a = job(one, "a");
        suspects.next();
        assertThat(suspects.expect(right)).isFalse();
        assertThat(woken).isEmpty();
        assertThat(suspects.remove(a)).isTrue();
        suspects.next();
        assertThat(woken).containsExactly(right);
    }

    @Test
    void shouldEmptyTheLine() {
        Running a = job(one, "a");
        Running b = job(one, "b");
        assertThat(suspects.waiting()).isEqualTo(2);
        assertThat(suspects.clear()).containsExactly(a, b);
        assertThat(suspects.waiting()).isZero();
    }
}
