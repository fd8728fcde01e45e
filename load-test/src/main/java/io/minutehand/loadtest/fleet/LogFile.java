package io.minutehand.loadtest.fleet;

import java.nio.file.Path;

/** Sends the log of this process to a file. */
public final class LogFile {
    private LogFile() {}

    /** Chooses the file. It counts only before the first logger is made. */
    public static void use(Path file) {
        System.setProperty("logback.configurationFile", "logback-file.xml");
        System.setProperty("minutehand.log.file", file.toString());
    }
}
