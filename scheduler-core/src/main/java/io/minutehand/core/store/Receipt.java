package io.minutehand.core.store;

/**
 * Proof that a job was handed to a node: {@code <delivery>:<node>.<popSeq>:<member>}. Each handout makes another, so an old one matches
 * nothing: that is all the fencing that ack, retry, bury and extend need.
 *
 * @param delivery how often the current attempt was handed out, from 1
 * @param node the node's id
 * @param seq the node's call number on the shard
 * @param member digit of the record hash, then the job's id
 */
public record Receipt(int delivery, String node, long seq, String member) {
    @Override
    public String toString() {
        return delivery + ":" + node + "." + seq + ":" + member;
    }
}
