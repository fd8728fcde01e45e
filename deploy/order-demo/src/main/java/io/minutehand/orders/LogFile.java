package io.minutehand.orders;

import java.nio.file.Path;

/** Sends the log of this process to a file. */
final class LogFile {
    private LogFile() {}

    /** Chooses the file. It counts only before the first logger is made. */
    static void use(Path file) {
        System.setProperty("logback.configurationFile", "logback-file.xml");
        System.setProperty("minutehand.log.file", file.toString());
    }
}
