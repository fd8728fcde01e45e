package io.minutehand.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.source.SourceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PostgresBinaryTest {

    @TempDir
    Path machine;

    @Test
    void shouldPreferThePathAndFollowItsLink() throws IOException {
        Path home = programs("opt/pg/bin", "14.2");
        programs("debian/16/bin", "16.1");
        Path path = Files.createDirectories(machine.resolve("path"));
        Files.createSymbolicLink(path.resolve("postgres"), home.resolve("postgres"));
        PostgresBinary found = PostgresBinary.installed(path.toString(), machine.resolve("debian"))
                .orElseThrow();
        assertThat(found).isEqualTo(new PostgresBinary(home.toRealPath(), "14.2", SourceKind.PATH));
    }

    @Test
    void shouldTakeTheNewestOfDebian() throws IOException {
        programs("debian/9/bin", "9.6.24");
        programs("debian/13/bin", "13.1");
        programs("debian/15/bin", "15.18");
        assertThat(PostgresBinary.installed("/nowhere", machine.resolve("debian")))
                .hasValueSatisfying(found -> assertThat(found.version()).isEqualTo("15.18"));
    }

    @Test
    void shouldTakeNoneThatIsTooOldOrIncomplete() throws IOException {
        programs("debian/9/bin", "9.6.24");
        Files.delete(programs("debian/15/bin", "15.18").resolve("initdb"));
        assertThat(PostgresBinary.installed("/nowhere", machine.resolve("debian")))
                .isEmpty();
        assertThat(PostgresBinary.installed(null, machine.resolve("missing"))).isEmpty();
    }

    private Path programs(String directory, String version) throws IOException {
        Path home = Files.createDirectories(machine.resolve(directory));
        for (String name : new String[] {"postgres", "initdb"}) {
            Path program = home.resolve(name);
            Files.writeString(program, "#!/bin/sh\necho '" + name + " (PostgreSQL) " + version + " (Debian 1)'\n");
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        }
        return home;
    }
}
