package io.minutehand.core.store;

import io.minutehand.core.store.StoreException.Kind;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisAuthRequiredException;
import org.redisson.client.RedisBusyException;
import org.redisson.client.RedisClusterDownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisLoadingException;
import org.redisson.client.RedisMasterDownException;
import org.redisson.client.RedisNoScriptException;
import org.redisson.client.RedisNodeNotFoundException;
import org.redisson.client.RedisOutOfMemoryException;
import org.redisson.client.RedisReadonlyException;
import org.redisson.client.RedisTimeoutException;
import org.redisson.client.RedisTryAgainException;
import org.redisson.client.RedisWrongPasswordException;

/** Says what a failure of Redisson means: whether the script may have run, and whether a repeat makes sense. Stateless. */
final class Failures {
    /** Error codes at the front of a message that the client has no class for, all of them refusals before the script ran. */
    private static final List<String> PASSING = List.of(
            "NOREPLICAS",
            "MISCONF",
            "CLUSTERDOWN",
            "MASTERDOWN",
            "TRYAGAIN",
            "LOADING",
            "READONLY",
            "BUSY",
            "ASK",
            "MOVED");

    /** How the client begins when a call found no connection, or was taken back before its first byte left. */
    private static final List<String> NOT_SENT =
            List.of("Unable to acquire connection!", "Command still hasn't been written into connection!");

    StoreException translate(ScriptRunner.Call call, Throwable failure) {
        String where = call.keys().isEmpty() ? "" : " on " + call.keys().get(0);
        return translate("script " + call.script().scriptName() + where, failure);
    }

    /** The client's exceptions do not become the cause: their messages, and so any stack trace, show command and arguments. */
    StoreException translate(String what, Throwable failure) {
        String said = failure.getMessage();
        String message = said == null ? failure.getClass().getSimpleName() : said;
        Kind kind = kindOf(failure, message);
        boolean ofClient = failure instanceof RedisException || failure instanceof RedissonShutdownException;
        return new StoreException(kind, what + " " + meaning(kind) + ": " + brief(message), ofClient ? null : failure);
    }

    private static Kind kindOf(Throwable failure, String message) {
        if (failure instanceof RedisOutOfMemoryException || message.startsWith("OOM")) {
            return Kind.FULL;
        }
        if (failure instanceof RedisLoadingException
                || failure instanceof RedisReadonlyException
                || failure instanceof RedisTryAgainException
                || failure instanceof RedisNoScriptException
                || failure instanceof RedisClusterDownException
                || failure instanceof RedisMasterDownException
                || failure instanceof RedisBusyException
                || failure instanceof RedisNodeNotFoundException
                || isNotSent(failure, message)
                || PASSING.stream().anyMatch(code -> message.startsWith(code + " "))) {
            return Kind.UNAVAILABLE;
        }
        if (failure instanceof RedissonShutdownException
                || failure instanceof RedisAuthRequiredException
                || failure instanceof RedisWrongPasswordException) {
            return Kind.REFUSED;
        }
        if (failure instanceof CancellationException || failure instanceof TimeoutException) {
            // The client gave a call up, a subscription among them, without saying why.
            return Kind.UNKNOWN;
        }
        // A server's error is a bare RedisException; time-outs and broken connections are subclasses, or one around
        // another exception.
        boolean answered = failure.getClass() == RedisException.class && failure.getCause() == null;
        return failure instanceof RedisException && !answered ? Kind.UNKNOWN : Kind.REFUSED;
    }

    /** Whether the call never left: no connection could be made, or none got free, so that a lost reply is out of the question. */
    private static boolean isNotSent(Throwable failure, String message) {
        // Its subclasses tell of connections that broke under a call that may have been written.
        return failure.getClass() == RedisConnectionException.class
                || (failure.getClass() == RedisTimeoutException.class
                        && NOT_SENT.stream().anyMatch(message::startsWith));
    }

    private static String meaning(Kind kind) {
        return switch (kind) {
            case FULL -> "was refused, Redis is at maxmemory (raise it, or let jobs run off)";
            case UNAVAILABLE -> "did not run, refused for now or not sent";
            case UNKNOWN -> "got no reply, its outcome is unknown";
            case REFUSED -> "failed";
        };
    }

    /** The client appends command and arguments (payloads among them) to its messages: only what stands before them is passed on. */
    static String brief(String message) {
        int end = message.length();
        for (String mark : List.of(
                " channel: [",
                ". channel: ",
                " command: (",
                ". Command: (",
                ", params: ",
                ", Node source: ",
                ", connection: ",
                "; command: ",
                ", command: ")) {
            int at = message.indexOf(mark);
            if (at >= 0) {
                end = Math.min(end, at);
            }
        }
        return message.substring(0, Math.min(end, 300));
    }
}
