package io.minutehand.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyspaceTest {
    private final Keyspace keys = new Keyspace("mh");
    private final ShardId shard = new ShardId("orders", 3);

    @Test
    void shouldSpellKeys() {
        BucketId bucket = new BucketId(shard, 28_333_333);

        assertThat(keys.bucket(bucket)).isEqualTo("mh:{orders:3}:b:28333333");
        assertThat(keys.lease(bucket)).isEqualTo("mh:{orders:3}:lease:28333333");
        assertThat(keys.index(shard)).isEqualTo("mh:{orders:3}:buckets");
        assertThat(keys.records(shard, "ejob")).isEqualTo("mh:{orders:3}:r:e");
        assertThat(keys.allRecords(shard))
                .hasSize(16)
                .startsWith("mh:{orders:3}:r:0")
                .endsWith("mh:{orders:3}:r:f")
                .doesNotHaveDuplicates();
        assertThat(keys.end(shard, "job")).isEqualTo("mh:{orders:3}:end:job");
        assertThat(keys.inflight(shard)).isEqualTo("mh:{orders:3}:inflight");
        assertThat(keys.pops(shard, "7")).isEqualTo("mh:{orders:3}:pop:7");
        assertThat(keys.dead(shard)).isEqualTo("mh:{orders:3}:dead");
        assertThat(keys.ledger(shard)).isEqualTo("mh:{orders:3}:ledger");
        assertThat(keys.wake(shard)).isEqualTo("mh:{orders:3}:wake");
        assertThat(keys.topics()).isEqualTo("mh:topics");
        assertThat(keys.nodes()).isEqualTo("mh:nodes");
        assertThat(keys.node("7")).isEqualTo("mh:node:7");
        assertThat(keys.reconcileLease("open-orders")).isEqualTo("mh:reconcile:{open-orders}:lease");
        assertThat(keys.reconcileState("open-orders")).isEqualTo("mh:reconcile:{open-orders}:state");
        assertThat(bucket).hasToString("topic=orders shard=3 minute=28333333");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a:b", "{a}", "a b", "\u00e4", "123456789012345678901234567890123"})
    void shouldRefuseANamespaceThatWouldChangeKeys(String namespace) {
        assertThatThrownBy(() -> new Keyspace(namespace))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(namespace);
    }
}
