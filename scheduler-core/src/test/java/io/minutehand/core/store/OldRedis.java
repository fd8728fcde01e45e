package io.minutehand.core.store;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Says what a Redis before 7.0 would say to a client that connects and asks for its version. */
final class OldRedis implements AutoCloseable {
    private final ServerSocket socket;

    OldRedis() throws IOException {
        socket = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        start("old-redis", this::accept);
    }

    int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                start("old-redis-client", () -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static void serve(Socket client) {
        try (client) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
            OutputStream out = client.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String command = "";
                for (int words = Integer.parseInt(line.substring(1)); words > 0; words--) {
                    in.readLine();
                    String word = in.readLine();
                    command = command.isEmpty() ? word.toUpperCase(Locale.ROOT) : command;
                }
                out.write((reply(command) + "\r\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException gone) {
            // The client has what it wanted to know.
        }
    }

    private static String reply(String command) {
        return switch (command) {
            case "PING" -> "+PONG";
            case "EVAL", "EVALSHA" -> "$7\r\nbelow 7";
            default -> "+OK";
        };
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
