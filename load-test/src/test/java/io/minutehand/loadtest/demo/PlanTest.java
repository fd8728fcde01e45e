package io.minutehand.loadtest.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlanTest {
    private static final Set<DemoTopic> ALL = EnumSet.allOf(DemoTopic.class);

    @Test
    void shouldMakeJobsDueInAnOpenLoop() {
        Plan plan = new Plan(1_000, 500, 10_000_000, ALL);

        for (int number = 0; number < plan.jobs(); number++) {
            assertThat(plan.dueUs(number)).isEqualTo(Plan.LEAD_IN_US + number * 2_000L);
        }
    }

    @Test
    void shouldGiveWholeMillisecondsAtAnyRate() {
        Plan plan = new Plan(10_000, 333.3, 10_000_000, ALL);

        assertThat(IntStream.range(0, plan.jobs()).mapToLong(plan::dueUs)).allMatch(us -> us % 1_000 == 0);
        assertThat(plan.dueUs(9_999)).isBetween(Plan.LEAD_IN_US + 29_999_000L, Plan.LEAD_IN_US + 30_000_000L);
    }

    @Test
    void shouldScheduleEachJobOnceTwoToTenSecondsAheadOrInTheLeadIn() {
        Plan plan = new Plan(10_000, 500, 10_000_000, ALL);
        Set<Integer> numbers = new HashSet<>();
        long beforeUs = 0;

        for (int i = 0; i < plan.jobs(); i++) {
            int number = plan.number(i);
            long aheadUs = plan.dueUs(number) - plan.scheduleAtUs(i);
            assertThat(plan.scheduleAtUs(i)).isGreaterThanOrEqualTo(beforeUs);
            beforeUs = plan.scheduleAtUs(i);
            assertThat(aheadUs).isBetween(1_500_000L, 10_000_000L);
            numbers.add(number);
        }

        assertThat(numbers).hasSize(10_000);
    }

    @Test
    void shouldSpreadWhatHasToBeCaughtUp() {
        Plan plan = new Plan(20_000, 500, 1_200_000_000, ALL);

        for (int i = 1; i < plan.jobs(); i++) {
            assertThat(plan.scheduleAtUs(i) - plan.scheduleAtUs(i - 1)).isGreaterThanOrEqualTo(200);
        }
        assertThat(plan.scheduleAtUs(plan.jobs() - 1)).isLessThan(39_000_000);
    }

    @Test
    void shouldMixTheTopicsInProportion() {
        Plan plan = new Plan(1_000, 500, 10_000_000, ALL);

        Map<DemoTopic, Long> counts = IntStream.range(0, plan.jobs())
                .mapToObj(plan::topic)
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));

        assertThat(counts)
                .containsEntry(DemoTopic.CLOSE_ORDER, 600L)
                .containsEntry(DemoTopic.CALL_WEBHOOK, 300L)
                .containsEntry(DemoTopic.RENDER_REPORT, 100L);
    }

    @Test
    void shouldUseOnlyTheChosenTopics() {
        Plan plan = new Plan(100, 500, 10_000_000, Set.of(DemoTopic.RENDER_REPORT));

        assertThat(IntStream.range(0, plan.jobs()).mapToObj(plan::topic)).containsOnly(DemoTopic.RENDER_REPORT);
        assertThat(plan.id(7)).isEqualTo("report:7");
    }

    @Test
    void shouldGiveTheSamePlanForTheSameOptions() {
        Plan one = new Plan(5_000, 500, 10_000_000, ALL);
        Plan two = new Plan(5_000, 500, 10_000_000, ALL);

        for (int i = 0; i < one.jobs(); i++) {
            assertThat(one.number(i)).isEqualTo(two.number(i));
            assertThat(one.scheduleAtUs(i)).isEqualTo(two.scheduleAtUs(i));
        }
    }

    @Test
    void shouldThrowDiceInProportion() {
        long hits = IntStream.range(0, 100_000)
                .filter(number -> Dice.hits(number, 5, 40))
                .count();

        assertThat(hits).isBetween(3_700L, 4_300L);
        assertThat(Dice.roll(7, 1)).isEqualTo(Dice.roll(7, 1)).isNotEqualTo(Dice.roll(7, 2));
    }
}
