package io.minutehand.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** An application that depends on this module gets one set of Netty jars: the one that is tested here. */
class NettyVersionTest {
    private static final Pattern NETTY = Pattern.compile("(netty-.*)-(\\d+\\.\\d+\\.\\d+\\.Final)\\.jar");

    @Test
    void shouldDeclareEachNettyJarThatIsUsed() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        List<Matcher> jars = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> NETTY.matcher(Path.of(entry).getFileName().toString()))
                .filter(Matcher::matches)
                .toList();

        assertThat(jars).as("Netty jars on the class path").isNotEmpty();
        assertThat(jars.stream().map(jar -> jar.group(2)).distinct()).hasSize(1);
        assertThat(jars.stream().map(jar -> jar.group(1)))
                .allSatisfy(name -> assertThat(pom).contains("<artifactId>" + name + "</artifactId>"));
    }
}
