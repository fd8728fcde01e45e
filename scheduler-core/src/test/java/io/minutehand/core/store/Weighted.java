package io.minutehand.core.store;

import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/** A kind of call and how often it comes, relative to the others. */
record Weighted(int weight, Supplier<ModelOp> make) {
    static ModelOp draw(List<Weighted> kinds, Random random) {
        int drawn = random.nextInt(kinds.stream().mapToInt(Weighted::weight).sum());
        for (Weighted kind : kinds) {
            drawn -= kind.weight;
            if (drawn < 0) {
                return kind.make.get();
            }
        }
        throw new AssertionError("weights do not add up");
    }
}
