package io.minutehand.worker.webhook;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Tells addresses of the public Internet from all others: what is private, local, shared, reserved, multicast, or carries another address inside (IANA
 * special-purpose registries), and the metadata address of a cloud that looks public.
 */
final class Addresses {
    private static final List<Range> SPECIAL = ranges(
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "168.63.129.16/32",
            "2001::/23",
            "2001:db8::/32",
            "2002::/16",
            "3fff::/20");

    /** All that was ever given out of IPv6; what lies outside is local, multicast, reserved, or carries an IPv4 address. */
    private static final Range GIVEN_OUT = range("2000::/3");

    private Addresses() {}

    /** Whether an address is one that anybody on the Internet can have. */
    static boolean isPublic(InetAddress address) {
        byte[] bytes = address.getAddress();
        return (address instanceof Inet4Address || GIVEN_OUT.has(bytes))
                && SPECIAL.stream().noneMatch(range -> range.has(bytes));
    }

    private static List<Range> ranges(String... texts) {
        return Arrays.stream(texts).map(Addresses::range).toList();
    }

    private static Range range(String text) {
        int slash = text.indexOf('/');
        try {
            // A literal: nobody is asked.
            byte[] net = InetAddress.getByName(text.substring(0, slash)).getAddress();
            return new Range(net, Integer.parseInt(text.substring(slash + 1)));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(text + " is no range", e);
        }
    }

    /** Addresses whose first bits are those of {@code net}. */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares these
    private record Range(byte[] net, int bits) {
        boolean has(byte[] address) {
            if (address.length != net.length) {
                return false;
            }
            int whole = bits / Byte.SIZE;
            for (int i = 0; i < whole; i++) {
                if (address[i] != net[i]) {
                    return false;
                }
            }
            int rest = bits % Byte.SIZE;
            return rest == 0 || ((address[whole] ^ net[whole]) & 0xff) >> (Byte.SIZE - rest) == 0;
        }
    }
}
