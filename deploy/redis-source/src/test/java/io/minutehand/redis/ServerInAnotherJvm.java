package io.minutehand.redis;

import java.io.IOException;

/** Starts a server, prints its process id, and ends when its input does. */
final class ServerInAnotherJvm {

    private ServerInAnotherJvm() {}

    public static void main(String[] args) throws IOException {
        RedisServer server = RedisServer.start();
        System.out.println("pid=" + server.pid());
        System.out.flush();
        int end = System.in.read();
        System.exit(end < 0 ? 0 : 1);
    }
}
