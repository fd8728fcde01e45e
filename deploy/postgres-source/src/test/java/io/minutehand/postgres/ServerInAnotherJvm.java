package io.minutehand.postgres;

import java.io.IOException;

/** The main class of a child JVM: starts a server, prints its process id, and waits for the end of its input. */
final class ServerInAnotherJvm {

    private ServerInAnotherJvm() {}

    public static void main(String[] arguments) throws IOException {
        PostgresServer server = PostgresServer.start();
        System.out.println("pid=" + server.pid());
        System.out.flush();
        while (System.in.read() >= 0) {
            // Only the end matters.
        }
    }
}
