package io.minutehand.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardMapTest {
    private static final int IDS = 80_000;

    /** Computed by another implementation (Python). Stored jobs depend on these: they never change. */
    @ParameterizedTest
    @CsvSource({
        "a, a2abdd0ec53c6e94, 4, 3, 660, a",
        "order-1, e594e3b9500d6e9d, 5, 0, 669, e",
        "close_order:10086, ec606e09e3159cf4, 4, 4, 244, e",
        "job-0000001, 1b5bb85bffce61b5, 5, 4, 437, 1",
        "0123456789abcdef0123456789abcdef, 2be0dbb225b47b50, 0, 2, 848, 2",
        "A.b_c:d@e+f=g-h, aca8569440c3e276, 6, 2, 630, a"
    })
    void shouldPlaceAnIdWhereItAlwaysWas(String id, String hash, int of8, int of7, int of1024, String digit) {
        assertThat(Long.toHexString(ShardMap.hash(id))).isEqualTo(hash);
        assertThat(ShardMap.shardOf(id, 8)).isEqualTo(of8);
        assertThat(ShardMap.shardOf(id, 7)).isEqualTo(of7);
        assertThat(ShardMap.shardOf(id, 1024)).isEqualTo(of1024);
        assertThat(ShardMap.shardOf(id, 1)).isZero();
        assertThat(ShardMap.memberOf(id)).isEqualTo(digit + id);
    }

    @Test
    void shouldTakeAMemberApart() {
        String member = ShardMap.memberOf("1:1.1:x");

        assertThat(ShardMap.idOf(member)).isEqualTo("1:1.1:x");
        assertThat(ShardMap.recordHashOf(member)).isEqualTo(Character.digit(member.charAt(0), 16));
    }

    @ParameterizedTest
    @ValueSource(strings = {"%d", "job-%d", "order:%010d", "%x", "close_order:%d000", "%d@example.com"})
    void shouldSpreadCountedIdsEvenly(String form) {
        assertThat(chiSquare(8, i -> ShardMap.shardOf(id(form, i), 8)))
                .as("8 shards")
                .isLessThan(bound(8));
        assertThat(chiSquare(16, i -> ShardMap.recordHashOf(ShardMap.memberOf(id(form, i)))))
                .as("16 record hashes")
                .isLessThan(bound(16));
        assertThat(chiSquare(
                        128,
                        i -> ShardMap.shardOf(id(form, i), 8) * 16
                                + ShardMap.recordHashOf(ShardMap.memberOf(id(form, i)))))
                .as("record hashes of each shard")
                .isLessThan(bound(128));
        assertThat(chiSquare(7, i -> ShardMap.shardOf(id(form, i), 7)))
                .as("7 shards")
                .isLessThan(bound(7));
    }

    private static String id(String form, int i) {
        return String.format(form, i);
    }

    private static double chiSquare(int cells, IntFunction<Integer> cellOf) {
        long[] counts = new long[cells];
        for (int i = 0; i < IDS; i++) {
            counts[cellOf.apply(i)]++;
        }
        double expected = (double) IDS / cells;
        double sum = 0;
        for (long count : counts) {
            sum += (count - expected) * (count - expected) / expected;
        }
        return sum;
    }

    /** Mean and five standard deviations of the distribution that even spreading would have. */
    private static double bound(int cells) {
        int freedom = cells - 1;
        return freedom + 5 * Math.sqrt(2.0 * freedom);
    }
}
