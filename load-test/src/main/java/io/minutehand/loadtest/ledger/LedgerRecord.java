package io.minutehand.loadtest.ledger;

import java.util.Locale;

/**
 * One entry of the external ledger.
 *
 * <p>All times are microseconds since the epoch by the Redis clock, as the writing process estimates it, unless the name
 * says that they are of the wall clock. So times of processes on several machines can be compared. {@code atUs} is when
 * the entry was written.
 */
public sealed interface LedgerRecord {

    /**
     * A producer is about to schedule a job; written before the call.
     *
     * @param dueUs the due time that the producer asks for
     */
    record Intent(String id, String topic, long dueUs, long atUs) implements LedgerRecord {}

    /**
     * What the producer was told about a job; written after the call.
     *
     * @param detail the answer in the product's own word, such as {@code CREATED}
     * @param dueUs the due time that was confirmed; 0 if none was
     */
    record Outcome(String id, Ack ack, String detail, long dueUs, long atUs) implements LedgerRecord {}

    /**
     * A handler begins; written before it has any effect.
     *
     * @param attempt counted from 1
     * @param dueUs the due time of this attempt
     * @param startUs the Redis clock at the start, estimated independently of the product
     * @param errorUs how far {@code startUs} may be off, either way
     * @param wallUs the wall clock of the worker at the start
     */
    record Start(
            String id,
            String topic,
            int attempt,
            int delivery,
            String node,
            int shard,
            long dueUs,
            long startUs,
            long errorUs,
            long wallUs)
            implements LedgerRecord {}

    /** A handler has ended, before the product is told. */
    record End(String id, int attempt, int delivery, String node, Result result, long atUs) implements LedgerRecord {}

    /** A job became a dead letter. */
    record Dead(String id, String topic, int attempt, String node, long atUs) implements LedgerRecord {}

    /**
     * What a producer was told about its wish to cancel a job; written after the call.
     *
     * @param ack accepted if the job was cancelled, refused if it was told that it runs, has ended or is not there
     * @param detail the answer in the product's own word, such as {@code RUNNING}
     */
    record Cancel(String id, Ack ack, String detail, long atUs) implements LedgerRecord {}

    /**
     * Something happened to a node, such as {@code ready} or {@code killed}.
     *
     * @param detail free text in one line; empty if there is nothing to say
     */
    record NodeEvent(String node, String event, String detail, long atUs) implements LedgerRecord {}

    /** What a producer knows about a job after its call. */
    enum Ack {
        /** Stored, so it must run. */
        ACCEPTED,
        /** Not stored, so it must not run. */
        REFUSED,
        /** It may run or not. */
        UNKNOWN
    }

    /** How a handler ended. */
    enum Result {
        /** It returned. */
        DONE,
        /** It threw. */
        FAILED;

        /** Returns the word that stands for it in a ledger file. */
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
