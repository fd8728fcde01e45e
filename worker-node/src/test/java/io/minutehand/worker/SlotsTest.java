package io.minutehand.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotsTest {
    private final List<String> woken = new ArrayList<>();
    private final TopicWork wide = Fixtures.topic("wide", TopicOptions.defaults());
    private final TopicWork narrow =
            Fixtures.topic("narrow", TopicOptions.defaults().concurrency(2));
    private final Shard wideShard = Fixtures.shard(wide, 0);
    private final Shard narrowShard = Fixtures.shard(narrow, 0);

    private Slots slots(int total) {
        return new Slots(total, () -> woken.add("insiders"), shard -> woken.add(shard.id.topic()));
    }

    @Test
    void shouldGrantHalfOfWhatIsFreeSoThatOthersGetSomeInTheSameMoment() {
        Slots slots = slots(10);
        assertThat(slots.reserve(wideShard, 256)).isEqualTo(5);
        assertThat(slots.reserve(wideShard, 256)).isEqualTo(3);
        assertThat(slots.reserve(wideShard, 256)).isEqualTo(1);
        assertThat(slots.reserve(wideShard, 256)).isEqualTo(1);
        assertThat(slots.reserve(wideShard, 256)).isZero();
        assertThat(slots.used()).isEqualTo(10);
    }

    @Test
    void shouldNotGrantMoreThanIsAskedFor() {
        assertThat(slots(100).reserve(wideShard, 3)).isEqualTo(3);
    }

    @Test
    void shouldNeverLetATopicExceedItsConcurrency() {
        Slots slots = slots(100);
        assertThat(slots.reserve(narrowShard, 256)).isEqualTo(1);
        assertThat(slots.reserve(narrowShard, 256)).isEqualTo(1);
        assertThat(slots.reserve(narrowShard, 256)).isZero();
        assertThat(slots.take(narrow)).isFalse();
        assertThat(slots.free(wide)).isEqualTo(98);
        assertThat(slots.take(wide)).isTrue();
        assertThat(slots.free(narrow)).isZero();
    }

    @Test
    void shouldTellWhoWaitsInsideFirstAndThenTheShardsInLine() {
        Slots slots = slots(1);
        assertThat(slots.take(wide)).isTrue();
        assertThat(slots.reserve(narrowShard, 1)).isZero();
        assertThat(slots.reserve(wideShard, 1)).isZero();
        slots.release(wide, 1);
        assertThat(woken).containsExactly("insiders", "narrow", "wide");
        slots.release(wide, 0);
        assertThat(woken).hasSize(3);
    }

    @Test
    void shouldPassOverAShardWhoseTopicIsFull() {
        Slots slots = slots(3);
        assertThat(slots.take(narrow)).isTrue();
        assertThat(slots.take(narrow)).isTrue();
        assertThat(slots.take(wide)).isTrue();
        assertThat(slots.reserve(narrowShard, 1)).isZero();
        assertThat(slots.reserve(wideShard, 1)).isZero();
        slots.release(wide, 1);
        assertThat(woken).containsExactly("insiders", "wide");
        slots.release(narrow, 1);
        assertThat(woken).containsExactly("insiders", "wide", "insiders", "narrow");
    }

    @Test
    void shouldNotWakeAShardThatWasServedMeanwhile() {
        Slots slots = slots(2);
        assertThat(slots.take(wide)).isTrue();
        assertThat(slots.take(wide)).isTrue();
        assertThat(slots.reserve(wideShard, 1)).isZero();
        Slots[] own = {slots};
        slots.release(wide, 1);
        assertThat(woken).containsExactly("insiders", "wide");
        assertThat(own[0].reserve(wideShard, 1)).isEqualTo(1);
        slots.release(wide, 1);
        assertThat(woken).containsExactly("insiders", "wide", "insiders");
    }

    @Test
    void shouldKeepItsBooksWhateverTheOrder() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Slots slots = slots(20);
        int wideUsed = 0;
        int narrowUsed = 0;
        for (int i = 0; i < 10_000; i++) {
            boolean ofWide = random.nextBoolean();
            if (random.nextBoolean()) {
                int granted = slots.reserve(ofWide ? wideShard : narrowShard, 1 + random.nextInt(30));
                wideUsed += ofWide ? granted : 0;
                narrowUsed += ofWide ? 0 : granted;
            } else {
                int released = random.nextInt(1 + (ofWide ? wideUsed : narrowUsed));
                slots.release(ofWide ? wide : narrow, released);
                wideUsed -= ofWide ? released : 0;
                narrowUsed -= ofWide ? 0 : released;
            }
            assertThat(slots.used()).as("seed %d", seed).isEqualTo(wideUsed + narrowUsed);
            assertThat(slots.used()).as("seed %d", seed).isBetween(0, 20);
            assertThat(narrow.used()).as("seed %d", seed).isEqualTo(narrowUsed).isLessThanOrEqualTo(2);
        }
    }
}
