package io.minutehand.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.core.write.WriteResult;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The outcomes that callers see are those of core's writer, under the same names: a router may add none and hide none. */
class ScheduleResultTest {
    @Test
    void shouldHaveTheStatusesOfTheWriterInTheirOrder() {
        assertThat(Arrays.stream(ScheduleResult.Status.values()).map(Enum::name))
                .containsExactlyElementsOf(Arrays.stream(WriteResult.Status.values())
                        .map(Enum::name)
                        .toList());
    }

    @ParameterizedTest
    @EnumSource(WriteResult.Status.class)
    void shouldMeanTheSame(WriteResult.Status written) {
        ScheduleResult.Status status = ScheduleBatcher.statusOf(written);

        assertThat(status.name()).isEqualTo(written.name());
        assertThat(status.accepted()).isEqualTo(written.accepted());
    }
}
