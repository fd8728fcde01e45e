package io.minutehand.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The defects that a scheduler must not have: each is planted somewhere, and the build fails unless the suite named here catches it. */
class PlantedBugsTest {
    private static final String CORE = "src/test/java/io/minutehand/core/store/";
    private static final String WORKER = "../worker-node/src/test/java/io/minutehand/worker/";

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "no lease check in pop                   | core   | PlantedBugsIT      | NO_LEASE_CHECK_IN_POP",
                "ack without receipt                     | core   | PlantedBugsIT      | ACK_WITHOUT_RECEIPT_CHECK",
                "no replay by the number of a pop        | core   | PlantedBugsIT      | NO_REPLAY_OF_POP",
                "recover without a deadline check        | core   | PlantedBugsIT      | RECOVER_WITHOUT_DEADLINE_CHECK",
                "pop without a state check               | core   | PlantedBugsIT      | POP_WITHOUT_STATE_CHECK",
                "a bucket missing from the index         | core   | PlantedBugsIT      | SCHEDULED_BUCKET_NOT_IN_THE_INDEX",
                "a counter in a second script            | core   | PlantedRacesIT     | shouldCatchACounterInASecondScript",
                "a check in another call than its write  | core   | PlantedRacesIT     | shouldCatchACheckThatIsMadeByAnotherCall",
                "a write before the last check           | core   | ScriptContractTest | after a write",
                "ack refused when memory is full         | core   | ScriptContractTest | \"ack     | lua flags=allow-oom\"",
                "a bucket dropped from the index by hand | core   | AuditIT            | BUCKET_FROM_THE_INDEX",
                "trust counted from the reply            | worker | PlantedPatchesIT   | TRUST_COUNTED_FROM_THE_REPLY",
                "a resend with a new identity            | worker | PlantedPatchesIT   | RESEND_WITH_A_NEW_IDENTITY",
            })
    void shouldBePlanted(String defect, String module, String suite, String planted) throws IOException {
        Path source = Path.of((module.equals("core") ? CORE : WORKER) + suite + ".java");

        assertThat(Files.readString(source)).as(defect).contains(planted);
    }
}
