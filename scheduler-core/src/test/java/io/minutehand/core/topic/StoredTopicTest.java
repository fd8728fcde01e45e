package io.minutehand.core.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.bucket.ShardId;
import io.minutehand.core.bucket.ShardMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoredTopicTest {
    private static final StoredTopic EIGHT =
            new StoredTopic("orders", 1, TopicSettings.defaults().withShards(8));

    @Test
    void shouldHaveOneHomeAnIdUntilTheCountChanges() {
        assertThat(EIGHT.homes("a")).containsExactly(new ShardId("orders", ShardMap.shardOf("a", 8)));
        assertThat(EIGHT.allShards()).isEqualTo(8);
        assertThat(EIGHT.shards()).hasSize(8).endsWith(new ShardId("orders", 7));
    }

    @Test
    void shouldVisitEarlierHomesFirstAndNoneTwice() {
        StoredTopic four = EIGHT.announcing(16).resharded(16).resharded(4);

        assertThat(four.epoch()).isEqualTo(3);
        assertThat(four.earlier()).containsExactly(8, 16);
        assertThat(four.allShards()).isEqualTo(16);
        for (int i = 0; i < 200; i++) {
            String id = "job-" + i;
            List<ShardId> homes = four.homes(id);
            assertThat(homes).doesNotHaveDuplicates().endsWith(four.home(id));
            assertThat(homes)
                    .contains(
                            new ShardId("orders", ShardMap.shardOf(id, 8)),
                            new ShardId("orders", ShardMap.shardOf(id, 16)));
        }
    }

    @Test
    void shouldStayPausedWhateverElseChanges() {
        StoredTopic paused = EIGHT.pausedUntil(1000);

        assertThat(paused.paused(999)).isTrue();
        assertThat(paused.paused(1000)).isFalse();
        assertThat(EIGHT.paused(0)).isFalse();
        assertThat(EIGHT.pausedUntil(StoredTopic.UNTIL_RESUMED).paused(Long.MAX_VALUE - 1))
                .isTrue();
        assertThat(List.of(
                        paused.announcing(16),
                        paused.resharded(16),
                        paused.resharded(16).settled(),
                        paused.ahead(5),
                        paused.with(TopicSettings.defaults())))
                .extracting(StoredTopic::pausedUntilMs)
                .containsOnly(1000L);
    }

    @Test
    void shouldForgetAnEarlierCountThatIsTodaysAgain() {
        StoredTopic again = EIGHT.resharded(16).resharded(8);

        assertThat(again.earlier()).containsExactly(16);
        assertThat(again.settled().earlier()).isEmpty();
        assertThat(again.settled().epoch()).isEqualTo(3);
        assertThat(again.settled().allShards()).isEqualTo(8);
    }

    @Test
    void shouldOwnShardsBeforeTheyAreUsed() {
        StoredTopic announced = EIGHT.announcing(16);

        assertThat(announced.allShards()).isEqualTo(16);
        assertThat(announced.epoch()).isEqualTo(1);
        assertThat(announced.home("a")).isEqualTo(EIGHT.home("a"));
        assertThat(announced.resharded(16).next()).isZero();
    }

    @Test
    void shouldKeepTheShardCountWhenOtherSettingsChange() {
        StoredTopic changed = EIGHT.resharded(16).with(TopicSettings.defaults().withDeadLimit(7));

        assertThat(changed.settings().shards()).isEqualTo(16);
        assertThat(changed.settings().deadLimit()).isEqualTo(7);
        assertThat(changed.earlier()).containsExactly(8);
    }

    @Test
    void shouldGoOnBehindAChangeThatWasLost() {
        StoredTopic ahead = EIGHT.announcing(16).ahead(2);
        assertThat(ahead.epoch()).isEqualTo(3);
        assertThat(ahead.settings().shards()).isEqualTo(8);
        assertThat(ahead.earlier()).containsExactly(16);
        assertThat(ahead.next()).isZero();
        assertThat(EIGHT.ahead(2).earlier()).isEmpty();
    }
}
