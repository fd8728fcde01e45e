package io.minutehand.core.bucket;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Id to shard, and id to record hash: stable hashes that every process computes alike, for ever (stored jobs depend on them).
 *
 * <p>CRC-32C spreads the text over 32 bits, and the finalizer of SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number
 * Generators", OOPSLA 2014, variant 13 of Stafford) spreads those over 64, so that shard (low bits, modulo) and record hash (high bits)
 * are independent. A plain CRC modulo a power of two would follow the pattern of counted ids.
 */
public final class ShardMap {
    /** Record hashes of a shard: their number is part of the stored format. */
    public static final int RECORD_HASHES = 16;

    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private ShardMap() {}

    /** The shard of an id, 0 to shards - 1. */
    public static int shardOf(String id, int shards) {
        return (int) Long.remainderUnsigned(hash(id), shards);
    }

    /** What buckets hold for an id: the hexadecimal digit of its record hash, then the id. */
    public static String memberOf(String id) {
        return HEX[(int) (hash(id) >>> 60)] + id;
    }

    /** The id of a member. */
    public static String idOf(String member) {
        return member.substring(1);
    }

    /** The record hash of a member, 0 to 15. */
    public static int recordHashOf(String member) {
        return Character.digit(member.charAt(0), RECORD_HASHES);
    }

    /** A well mixed 64-bit hash of a text, the same in every process. */
    public static long hash(String text) {
        CRC32C crc = new CRC32C();
        crc.update(text.getBytes(StandardCharsets.UTF_8));
        return mix(crc.getValue() ^ ((long) text.length() << 32));
    }

    /** The SplitMix64 finalizer: a bijection on 64 bits in which each input bit moves half of the output bits. */
    public static long mix(long value) {
        long z = value + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
