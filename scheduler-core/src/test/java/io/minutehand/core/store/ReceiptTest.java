package io.minutehand.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReceiptTest {
    @Test
    void shouldBeWrittenAsTheScriptsWriteIt() {
        assertThat(new Receipt(2, "77", 9, "5a:b.c")).hasToString("2:77.9:5a:b.c");
    }

    @Test
    void shouldHaveNodesWhoseIdsFitIntoReceiptsAndLeases() {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            NodeId node = NodeId.next("client");
            assertThat(node.id()).matches("[0-9]{13,16}");
            assertThat(node.holder()).isEqualTo("client:" + node.id());
            ids.add(node.id());
        }
        assertThat(ids).hasSize(1000);
    }
}
