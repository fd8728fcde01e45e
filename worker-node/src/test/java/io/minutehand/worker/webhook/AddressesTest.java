package io.minutehand.worker.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "10.255.255.255",
                "100.64.0.1",
                "100.127.255.255",
                "127.0.0.1",
                "127.255.255.254",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.0.1",
                "192.0.0.1",
                "192.0.2.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.7",
                "203.0.113.7",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "168.63.129.16",
                "::",
                "::1",
                "::7f00:1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "64:ff9b::7f00:1",
                "64:ff9b:1::1",
                "100::1",
                "2001::1",
                "2001:db8::1",
                "2002:7f00:1::",
                "3fff::1",
                "5f00::1",
                "64:ff9c::1",
                "fbff::1",
                "fe00::1",
                "fc00::1",
                "fdff::1",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1"
            })
    void shouldKnowWhatIsNotPublic(String address) throws Exception {
        assertThat(Addresses.isPublic(InetAddress.getByName(address))).isFalse();
    }

    /** Neighbours of the ranges among them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.0.0.0",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "168.63.129.15",
                "168.63.129.17",
                "2001:4860:4860::8888",
                "2606:4700::1111",
                "3ffe::1"
            })
    void shouldLetThePublicPass(String address) throws Exception {
        assertThat(Addresses.isPublic(InetAddress.getByName(address))).isTrue();
    }
}
