package io.minutehand.router.outbox;

import io.minutehand.core.jdbc.TableName;
import io.minutehand.core.job.Allowed;
import java.time.Duration;

/**
 * Settings of an outbox and its relay. Immutable; each {@code with} returns a copy.
 *
 * <table>
 *   <caption>defaults and ranges</caption>
 *   <tr><th>setting</th><th>default</th><th>range</th></tr>
 *   <tr><td>table</td><td>{@code minutehand_outbox}</td><td>{@code [a-z_][a-z0-9_]*}, at most 50 characters, with or without such a schema before it</td></tr>
 *   <tr><td>pageRows</td><td>200</td><td>1 to 1000</td></tr>
 *   <tr><td>rowsPerSecond</td><td>5000</td><td>1 to 1,000,000</td></tr>
 *   <tr><td>period</td><td>1 s</td><td>10 ms to 1 h</td></tr>
 *   <tr><td>longestBackOff</td><td>30 s</td><td>period to 1 h</td></tr>
 *   <tr><td>directJobs</td><td>10,000</td><td>0 to 1,000,000</td></tr>
 * </table>
 *
 * @param table the table, whose name goes into SQL as it stands
 * @param pageRows rows of one transaction, at most; 4 MiB of payloads end a page, too
 * @param rowsPerSecond what one relay schedules, at most
 * @param period how long a relay rests after it has seen the whole table
 * @param longestBackOff how long a relay rests, at most, while Redis or the database is away; it begins with the period and doubles
 * @param directJobs committed jobs that wait in memory to be scheduled, at most; more are left to the relay. 0 leaves all to it
 */
public record OutboxSettings(
        String table, int pageRows, int rowsPerSecond, Duration period, Duration longestBackOff, int directJobs) {
    private static final int MOST_PAGE_ROWS = 1000;
    private static final int MOST = 1_000_000;
    private static final Duration SHORTEST_PERIOD = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofHours(1);

    /** @throws IllegalArgumentException that names the setting out of its range */
    public OutboxSettings {
        TableName.require(table);
        Allowed.requireWithin("pageRows", pageRows, 1, MOST_PAGE_ROWS);
        Allowed.requireWithin("rowsPerSecond", rowsPerSecond, 1, MOST);
        Allowed.requireWithin("directJobs", directJobs, 0, MOST);
        Allowed.requireWithin("period", period, SHORTEST_PERIOD, LONGEST);
        Allowed.requireWithin("longestBackOff", longestBackOff, period, LONGEST);
    }

    /** The defaults of the table above. */
    public static OutboxSettings defaults() {
        return new OutboxSettings(
                "minutehand_outbox", 200, 5000, Duration.ofSeconds(1), Duration.ofSeconds(30), 10_000);
    }

    /** The same with this table. */
    public OutboxSettings withTable(String value) {
        return new OutboxSettings(value, pageRows, rowsPerSecond, period, longestBackOff, directJobs);
    }

    /** The same with this many rows of one transaction. */
    public OutboxSettings withPageRows(int value) {
        return new OutboxSettings(table, value, rowsPerSecond, period, longestBackOff, directJobs);
    }

    /** The same with this rate of a relay. */
    public OutboxSettings withRowsPerSecond(int value) {
        return new OutboxSettings(table, pageRows, value, period, longestBackOff, directJobs);
    }

    /** The same with this rest between looks at the table. */
    public OutboxSettings withPeriod(Duration value) {
        return new OutboxSettings(table, pageRows, rowsPerSecond, value, longestBackOff, directJobs);
    }

    /** The same with this longest rest during an outage. */
    public OutboxSettings withLongestBackOff(Duration value) {
        return new OutboxSettings(table, pageRows, rowsPerSecond, period, value, directJobs);
    }

    /** The same with this many jobs that wait in memory. */
    public OutboxSettings withDirectJobs(int value) {
        return new OutboxSettings(table, pageRows, rowsPerSecond, period, longestBackOff, value);
    }
}
