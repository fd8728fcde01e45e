package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.stream.Stream;

/** The server programs that tests of this module start: the embedded one, and the installed one where there is one. */
final class Programs {

    private Programs() {}

    static Stream<RedisBinary> all() {
        return Stream.concat(Stream.of(RedisBinary.embedded()), installed().stream());
    }

    /** The installed program; under CI a missing one is a failure, because then half of the tests would not run. */
    static Optional<RedisBinary> installed() {
        Optional<RedisBinary> installed = RedisBinary.onPath();
        if (System.getenv("CI") != null) {
            assertThat(installed)
                    .as("a redis-server on the PATH, which CI must have")
                    .isPresent();
        }
        return installed;
    }
}
