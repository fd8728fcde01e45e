package io.minutehand.core.job;

import static io.minutehand.core.job.JobState.CANCELLED;
import static io.minutehand.core.job.JobState.DEAD;
import static io.minutehand.core.job.JobState.DONE;
import static io.minutehand.core.job.JobState.IN_FLIGHT;
import static io.minutehand.core.job.JobState.PENDING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class JobStateTest {
    @Test
    void shouldKnowItsLetter() {
        for (JobState state : JobState.values()) {
            assertThat(JobState.ofCode(state.code())).isEqualTo(state);
        }
        assertThat(Arrays.stream(JobState.values())
                        .map(state -> String.valueOf(state.code()))
                        .collect(Collectors.joining()))
                .as("stored in records and tombstones")
                .isEqualTo("PIDXC");
        assertThatThrownBy(() -> JobState.ofCode('Q'))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'Q'");
    }

    @Test
    void shouldAllowTheTransitionsThatScriptsMake() {
        assertThat(next(PENDING)).containsExactly(PENDING, IN_FLIGHT, CANCELLED);
        assertThat(next(IN_FLIGHT)).containsExactly(PENDING, IN_FLIGHT, DONE, DEAD);
        assertThat(next(DEAD)).containsExactly(PENDING);
        assertThat(next(DONE)).isEmpty();
        assertThat(next(CANCELLED)).isEmpty();
        assertThat(Arrays.stream(JobState.values()).filter(JobState::ended)).containsExactly(DONE, DEAD, CANCELLED);
    }

    private static Set<JobState> next(JobState state) {
        Set<JobState> next = EnumSet.allOf(JobState.class);
        next.removeIf(other -> !state.canBecome(other));
        return next;
    }
}
