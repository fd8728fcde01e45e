package io.minutehand.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.SocketFactory;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * One plain connection to Redis: sends a command, waits for its reply (RESP2). It exists so that tests look into Redis
 * with other code than the code under test. Binary safe, blocking, one thread at a time.
 *
 * <p>Replies come as {@code String} (status), {@code Long}, {@code byte[]} (bulk), {@code List} or {@code null}. An
 * error reply is thrown as {@link RedisReplyException}; inside a list it stands as an element, because the other
 * elements count too.
 */
public final class RedisCommands implements AutoCloseable {

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

    private static final Pattern MOVED = Pattern.compile("MOVED \\d+ [^ ]*:(\\d+)");

    private final Socket socket;
    private final DataInputStream in;
    private final Map<Integer, RedisCommands> others = new HashMap<>();
    private @Nullable IntFunction<RedisCommands> elsewhere;

    private RedisCommands(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /**
     * Connects and authenticates, with 10 s for the connection and for each reply.
     *
     * @param uri {@code redis://[[user]:password@]host[:port]}; {@code rediss://} uses the JVM's trust store
     * @throws UncheckedIOException if nothing answers there
     * @throws RedisReplyException  if the credentials are refused
     */
    public static RedisCommands connect(String uri) {
        return connect(uri, DEFAULT_TIMEOUT);
    }

    /**
     * Connects and authenticates.
     *
     * @param timeout limit for the connection and for each reply; zero waits for ever
     * @throws UncheckedIOException if nothing answers there in time
     * @throws RedisReplyException  if the credentials are refused
     */
    public static RedisCommands connect(String uri, Duration timeout) {
        RedisAddress address = RedisAddress.parse(uri);
        return open(address, timeout, address.tls() ? SSLSocketFactory.getDefault() : SocketFactory.getDefault());
    }

    /**
     * Connects through the caller's sockets and authenticates: a {@code rediss://} server whose certificate the JVM does
     * not trust by itself is reached so.
     *
     * @param sockets makes the sockets, for example the factory of an {@link javax.net.ssl.SSLContext}
     * @throws UncheckedIOException if nothing answers there in time
     * @throws RedisReplyException  if the credentials are refused
     */
    public static RedisCommands connect(String uri, SocketFactory sockets) {
        return open(RedisAddress.parse(uri), DEFAULT_TIMEOUT, sockets);
    }

    private static RedisCommands open(RedisAddress address, Duration timeout, SocketFactory sockets) {
        int timeoutMs = Math.toIntExact(timeout.toMillis());
        Socket socket = null;
        try {
            socket = sockets.createSocket();
            if (socket instanceof SSLSocket secure) {
                // Off by default for plain sockets, and without it any trusted certificate will do.
                SSLParameters parameters = secure.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                secure.setSSLParameters(parameters);
            }
            socket.connect(new InetSocketAddress(address.host(), address.port()), timeoutMs);
            socket.setSoTimeout(timeoutMs);
            socket.setTcpNoDelay(true);
            RedisCommands commands = new RedisCommands(socket);
            if (address.password() != null) {
                if (address.user() == null) {
                    commands.call("AUTH", address.password());
                } else {
                    commands.call("AUTH", address.user(), address.password());
                }
            }
            return commands;
        } catch (IOException e) {
            closeQuietly(socket);
            throw new UncheckedIOException("No connection to " + address + ": " + why(e), e);
        } catch (RuntimeException e) {
            closeQuietly(socket);
            throw e;
        }
    }

    /** The message of a failure to connect, with what to look at. */
    static String why(IOException failure) {
        if (failure instanceof UnknownHostException) {
            return "unknown host " + failure.getMessage() + "; check its spelling, and DNS";
        }
        if (failure instanceof SocketTimeoutException) {
            return failure.getMessage()
                    + "; check the address, a firewall in between, and that both sides agree on TLS";
        }
        if (failure instanceof ConnectException) {
            return failure.getMessage() + "; check that Redis is running there";
        }
        return String.valueOf(failure.getMessage());
    }

    private static void closeQuietly(@Nullable Socket socket) {
        try {
            if (socket != null) {
                socket.close();
            }
        } catch (IOException e) {
            // Nothing can be lost: the connection is given up because something failed already.
        }
    }

    /**
     * From now on a command whose key another server of a Cluster serves goes there, over one more connection of this
     * one's own; so do only {@link #call}, {@link #callAll} and what is made of them.
     *
     * @param connect opens a connection to the server with this port
     */
    RedisCommands following(IntFunction<RedisCommands> connect) {
        elsewhere = connect;
        return this;
    }

    /**
     * Sends a command and waits for its reply.
     *
     * @param words command and arguments: {@code byte[]} as it is, anything else by its {@code toString} in UTF-8
     * @return the reply, see the class note
     * @throws RedisReplyException  if the reply is an error
     * @throws RedisGoneException   if the connection fails or no reply comes in time
     */
    public @Nullable Object call(Object... words) {
        send(words);
        return receiveOrFollow(words);
    }

    private @Nullable Object receiveOrFollow(Object... words) {
        try {
            return receive();
        } catch (RedisReplyException refused) {
            Matcher moved = MOVED.matcher(String.valueOf(refused.getMessage()));
            if (elsewhere == null || !moved.lookingAt()) {
                throw refused;
            }
            return others.computeIfAbsent(Integer.valueOf(moved.group(1)), elsewhere::apply)
                    .call(words);
        }
    }

    /**
     * Sends commands together and waits for all replies. Not for so many that they or their replies fill the buffers of a
     * socket.
     *
     * @return the replies in the order of the commands, which may be null
     * @throws RedisReplyException if a reply is an error
     * @throws RedisGoneException  if the connection fails or a reply does not come in time
     */
    public List<@Nullable Object> callAll(List<Object[]> commands) {
        commands.forEach(this::send);
        List<@Nullable Object> replies = new ArrayList<>(commands.size());
        for (Object[] words : commands) {
            replies.add(receiveOrFollow(words));
        }
        return replies;
    }

    /**
     * Sends a command without waiting; {@link #receive()} takes the reply. Replies come in the order of the commands.
     *
     * @throws RedisGoneException if the connection fails
     */
    public void send(Object... words) {
        try {
            socket.getOutputStream().write(encode(words));
        } catch (IOException e) {
            throw new RedisGoneException("Sending " + words[0] + " failed: " + e.getMessage(), e);
        }
    }

    /**
     * Waits for the next reply, or for the next message of a subscription.
     *
     * @throws RedisReplyException  if the reply is an error
     * @throws RedisGoneException   if the connection fails or nothing comes in time
     */
    public @Nullable Object receive() {
        Object reply;
        try {
            reply = read();
        } catch (IOException e) {
            throw new RedisGoneException("No reply from Redis: " + e.getMessage(), e);
        }
        if (reply instanceof RedisReplyException error) {
            throw error;
        }
        return reply;
    }

    /** The reply as text (bulk bytes as UTF-8, a number in decimal), or null if it is null. */
    public @Nullable String text(Object... words) {
        return asText(call(words));
    }

    /**
     * The reply as a number.
     *
     * @throws NumberFormatException if it is neither an integer nor text that holds one
     */
    public long number(Object... words) {
        return Long.parseLong(String.valueOf(text(words)));
    }

    /** The elements of a flat list as text; a null element becomes the empty string. A null reply is an empty list. */
    public List<String> texts(Object... words) {
        List<String> result = new ArrayList<>();
        if (call(words) instanceof List<?> elements) {
            for (Object element : elements) {
                String text = asText(element);
                result.add(text == null ? "" : text);
            }
        }
        return result;
    }

    /**
     * The fields of {@code INFO}, in the server's order.
     *
     * @param section such as {@code server}, {@code replication} or {@code all}
     */
    public Map<String, String> info(String section) {
        return fields(text("INFO", section));
    }

    /** Lines of {@code name:value}, as INFO and CLUSTER INFO reply them. */
    static Map<String, String> fields(@Nullable String reply) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : String.valueOf(reply).split("\r?\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.charAt(0) != '#') {
                fields.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        return fields;
    }

    /** Closes the connection. Calling it again does nothing. */
    @Override
    public void close() {
        others.values().forEach(RedisCommands::close);
        closeQuietly(socket);
    }

    private static @Nullable String asText(@Nullable Object reply) {
        if (reply instanceof byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        return reply == null ? null : reply.toString();
    }

    private static byte[] encode(Object[] words) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(64);
        line(out, '*', words.length);
        for (Object word : words) {
            byte[] bytes = word instanceof byte[] raw ? raw : word.toString().getBytes(StandardCharsets.UTF_8);
            line(out, '$', bytes.length);
            out.writeBytes(bytes);
            out.write('\r');
            out.write('\n');
        }
        return out.toByteArray();
    }

    private static void line(ByteArrayOutputStream out, char type, int number) {
        out.writeBytes((type + Integer.toString(number) + "\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    private @Nullable Object read() throws IOException {
        int type = in.read();
        if (type < 0) {
            throw new EOFException("the server closed the connection");
        }
        String line = readLine(in);
        return switch (type) {
            case '+' -> line;
            case '-' -> new RedisReplyException(line);
            case ':' -> Long.valueOf(line);
            case '$' -> readBulk(Integer.parseInt(line));
            case '*' -> readList(Integer.parseInt(line));
            default -> throw new IOException("unknown reply type '" + (char) type + "'");
        };
    }

    private byte @Nullable [] readBulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        in.skipNBytes(2);
        return bytes;
    }

    private @Nullable List<@Nullable Object> readList(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        List<@Nullable Object> elements = new ArrayList<>(length);
        for (int i = 0; i < length; i++) {
            elements.add(read());
        }
        return Collections.unmodifiableList(elements);
    }

    private static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(32);
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection inside a reply");
            }
            line.write(b);
        }
        if (in.read() != '\n') {
            throw new IOException("a reply line does not end in CR LF");
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
