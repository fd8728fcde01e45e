package io.minutehand.loadtest;

import java.util.Optional;

/**
 * Ends this process, in good order, when the script that waits for it is gone: whoever ends {@code deploy/minutehand} by
 * its process id means the command. The script says who it is with the system property {@code minutehand.launcher};
 * without it nobody is watched.
 */
final class LauncherWatch {
    private static final long PAUSE_MS = 200;

    /** As for a process that SIGTERM has ended. */
    private static final int ENDED = 128 + 15;

    private LauncherWatch() {}

    static void begin() {
        Long pid = Long.getLong("minutehand.launcher");
        // One that is not to be seen from here, from inside a container for example, cannot be watched.
        Optional<ProcessHandle> launcher = pid == null ? Optional.empty() : ProcessHandle.of(pid);
        launcher.ifPresent(process -> {
            Thread watch = new Thread(() -> watch(process), "launcher-watch");
            watch.setDaemon(true);
            watch.start();
        });
    }

    private static void watch(ProcessHandle launcher) {
        try {
            while (launcher.isAlive()) {
                Thread.sleep(PAUSE_MS);
            }
            System.exit(ENDED);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
