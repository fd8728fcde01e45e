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
    private final Suspects suspects = new Suspects(4, topic -> !full.contains(topic), started::add, woken::add);

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
    void shouldBoundTheLine() {
        job(one, "a");
        assertThat(suspects.expect(left, 256))
                .as("half of the three places left")
                .isEqualTo(2);
        assertThat(suspects.expect(left, 256)).isEqualTo(1);
        assertThat(suspects.expect(left, 256)).isZero();
        suspects.came(3);
        assertThat(suspects.expect(left, 1)).isEqualTo(1);
        suspects.came(1);
        job(one, "b");
        job(one, "c");
        job(one, "d");
        job(one, "e");
        assertThat(suspects.expect(left, 1))
                .as("more came than places were kept")
                .isZero();
        assertThat(suspects.clear()).hasSize(5);
        assertThat(suspects.waiting()).isZero();
    }

    @Test
    void shouldTellAShardThatFoundNoPlaceWhenThereAreSomeAgain() {
        assertThat(suspects.expect(left, 256)).isEqualTo(2);
        assertThat(suspects.expect(left, 256)).isEqualTo(1);
        assertThat(suspects.expect(left, 256)).isEqualTo(1);
        assertThat(suspects.expect(right, 256)).isZero();
        assertThat(woken).isEmpty();
        suspects.came(1);
        assertThat(woken).as("one place is not worth a call").isEmpty();
        suspects.came(3);
        assertThat(woken).containsExactly(right);
        suspects.came(0);
        assertThat(woken).as("once").hasSize(1);
    }

    @Test
    void shouldTellAShardWhenTheLineHasGrownShort() {
        Running a = job(one, "a");
        job(one, "b");
        job(one, "c");
        job(one, "d");
        assertThat(suspects.expect(right, 1)).isZero();
        suspects.next();
        assertThat(woken).isEmpty();
        suspects.ended(a);
        suspects.next();
        assertThat(woken).containsExactly(right);
    }
}
