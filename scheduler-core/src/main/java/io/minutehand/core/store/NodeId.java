package io.minutehand.core.store;

import java.security.SecureRandom;

/**
 * A node as Redis knows it, new at each start and each return.
 *
 * @param clientId the Redisson client's id
 * @param owner random, positive: the owner id of the node's locks
 */
public record NodeId(String clientId, long owner) {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** A new node of this client. */
    public static NodeId next(String clientId) {
        return new NodeId(clientId, RANDOM.nextLong(1L << 40, 1L << 53));
    }

    /** The id in receipts and in the list of nodes: digits. */
    public String id() {
        return Long.toString(owner);
    }

    /** The field of a lease's hash: what Redisson's lock writes for this owner. */
    public String holder() {
        return clientId + ":" + owner;
    }
}
