package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.fail;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Random sequences of calls against the model. {@code -Dminutehand.model.sequences=2000} runs more of them, {@code -Dminutehand.model.seed=...}
 * others.
 */
@ExtendWith(SharedTestStore.class)
class ModelIT {
    static final long SEED = Long.getLong("minutehand.model.seed", 20_260_101);
    static final int CALLS = 60;
    private static final int SEQUENCES = Integer.getInteger("minutehand.model.sequences", 300);

    private final TestStore store;

    ModelIT(TestStore store) {
        this.store = store;
    }

    @Test
    void shouldDoWhatTheModelDoes() {
        System.out.printf("model: seed=%d sequences=%d calls=%d%n", SEED, SEQUENCES, SEQUENCES * CALLS);
        for (int i = 0; i < SEQUENCES; i++) {
            Optional<ModelRun.Failure> failure = ModelRun.random(store, SEED + i, CALLS);
            if (failure.isPresent()) {
                fail("seed %d: %s", SEED + i, ModelRun.shrink(store, failure.get()));
            }
        }
    }
}
