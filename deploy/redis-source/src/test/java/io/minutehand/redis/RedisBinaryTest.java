package io.minutehand.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.minutehand.source.SourceKind;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedisBinaryTest {

    @TempDir
    Path first;

    @TempDir
    Path second;

    @Test
    void shouldFindNothingOnAnEmptyPath() {
        assertThat(RedisBinary.onPath(searchPath())).isEmpty();
        assertThat(RedisBinary.onPath("")).isEmpty();
        assertThat(RedisBinary.onPath(null)).isEmpty();
    }

    @Test
    void shouldTakeTheFirstOnThePath() throws IOException {
        Path expected = program(first, "redis-server", "Redis server v=7.2.4 sha=00000000:0 malloc=libc bits=64");
        program(second, "redis-server", "Redis server v=7.0.15 sha=00000000:0");
        assertThat(RedisBinary.onPath(searchPath())).contains(new RedisBinary(expected, "7.2.4", SourceKind.PATH));
    }

    @Test
    void shouldTakeValkeyWhenRedisIsTooOld() throws IOException {
        program(first, "redis-server", "Redis server v=6.2.11 sha=00000000:0");
        Path expected = program(second, "valkey-server", "Valkey server v=8.1.3 sha=00000000:0");
        assertThat(RedisBinary.onPath(searchPath())).contains(new RedisBinary(expected, "8.1.3", SourceKind.PATH));
    }

    @Test
    void shouldFindValkeyBesideRedis() throws IOException {
        program(first, "redis-server", "Redis server v=7.2.4 sha=00000000:0");
        assertThat(RedisBinary.valkey(searchPath())).isEmpty();
        Path expected = program(second, "valkey-server", "Valkey server v=8.1.3 sha=00000000:0");
        assertThat(RedisBinary.valkey(searchPath())).contains(new RedisBinary(expected, "8.1.3", SourceKind.PATH));
    }

    @Test
    void shouldIgnoreWhatIsNoProgram() throws IOException {
        Files.createDirectory(first.resolve("redis-server"));
        Files.writeString(second.resolve("redis-server"), "not executable");
        assertThat(RedisBinary.onPath(searchPath())).isEmpty();
    }

    @Test
    void shouldSayWhichVersionIsNeeded() throws IOException {
        Path old = program(first, "redis-server", "Redis server v=6.2.11 sha=00000000:0");
        assertThatThrownBy(() -> RedisBinary.versionOf(old))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(old.toString())
                .hasMessageContaining("6.2.11")
                .hasMessageContaining("7.0");
    }

    @Test
    void shouldRefuseAProgramThatNamesNoVersion() throws IOException {
        Path odd = program(first, "redis-server", "hello");
        assertThatThrownBy(() -> RedisBinary.versionOf(odd)).hasMessageContaining("hello");
    }

    /** Another thread that starts a process just then holds the file open for a moment. */
    @Test
    void shouldWaitForAProgramThatIsStillOpenForWriting() throws IOException {
        Path program = program(first, "redis-server", "Redis server v=7.2.4 sha=00000000:0");
        FileChannel open = FileChannel.open(program, StandardOpenOption.WRITE);
        CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS).execute(() -> close(open));
        assertThat(RedisBinary.versionOf(program)).isEqualTo("7.2.4");
    }

    private static void close(FileChannel open) {
        try {
            open.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String searchPath() {
        return first + File.pathSeparator + File.pathSeparator + second;
    }

    private static Path program(Path directory, String name, String output) throws IOException {
        Path file = directory.resolve(name);
        Files.writeString(file, "#!/bin/sh\necho '" + output + "'\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }
}
