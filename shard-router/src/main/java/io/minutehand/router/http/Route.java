package io.minutehand.router.http;

import io.vertx.core.http.HttpMethod;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thing that can be done.
 *
 * @param method of the request
 * @param template of its path, {@code {name}} stands for one segment
 * @param access who may do it
 * @param handler does it, on an event loop; what it throws becomes the answer
 */
record Route(HttpMethod method, String template, Access access, Handler handler) {
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    /** Does what a route is for. */
    interface Handler {
        void handle(Call call);
    }

    /** Who may do it. */
    enum Access {
        /** Everybody: says nothing but whether the router is well. */
        OPEN,
        /** Whoever has a key. */
        ANY_KEY,
        /** Who may produce in the topic of the path. */
        PRODUCE,
        /** Who may read in the topic of the path. */
        READ,
        /** Who may administer the topic of the path. */
        ADMIN,
        /** Who may produce in some topic; the handler checks which. */
        PRODUCE_SOMEWHERE,
        /** Who may read in some topic; the handler shows those. */
        READ_SOMEWHERE,
        /** Who may read in all topics. */
        READ_ALL
    }

    /** The pattern of its paths, with a named group for each parameter. */
    String regex() {
        StringBuilder regex = new StringBuilder();
        Matcher parameters = PARAMETER.matcher(template);
        int from = 0;
        while (parameters.find()) {
            regex.append(Pattern.quote(template.substring(from, parameters.start())));
            regex.append("(?<").append(parameters.group(1)).append(">[^/]+)");
            from = parameters.end();
        }
        if (from < template.length()) {
            regex.append(Pattern.quote(template.substring(from)));
        }
        return regex.toString();
    }
}
