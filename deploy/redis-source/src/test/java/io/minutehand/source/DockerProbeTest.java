package io.minutehand.source;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DockerProbeTest {

    @Test
    void shouldSilenceALoggerForAWhile() {
        Logger inherited = (Logger) LoggerFactory.getLogger("some.noisy.inherited");
        Logger debugging = (Logger) LoggerFactory.getLogger("some.noisy.debugging");
        debugging.setLevel(Level.DEBUG);
        for (Logger logger : new Logger[] {inherited, debugging}) {
            Level before = logger.getLevel();

            DockerProbe.Silence silence = new DockerProbe.Silence(logger.getName());

            assertThat(logger.isErrorEnabled()).isFalse();
            silence.end();
            assertThat(logger.isErrorEnabled()).isTrue();
            assertThat(logger.getLevel()).isEqualTo(before);
        }
    }
}
