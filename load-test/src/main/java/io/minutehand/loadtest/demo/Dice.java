package io.minutehand.loadtest.demo;

/** Chance that every process throws alike: the same arguments give the same number. */
final class Dice {
    private Dice() {}

    /**
     * Throws for a number.
     *
     * @param purpose sets throws for different things apart
     * @return any long
     */
    static long roll(long number, int purpose) {
        // The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
        long z = number + purpose * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** Throws for a number; true {@code perMille} times out of a thousand. */
    static boolean hits(long number, int purpose, int perMille) {
        return Math.floorMod(roll(number, purpose), 1_000) < perMille;
    }
}
