/**
 * The HTTP router: what {@code JobRouter} and {@code Admin} can do, for producers in any language. Needs Vert.x and, for its command, picocli on
 * the class path, both optional.
 *
 * <p>In the order of a request: {@code HttpRouter} listens, {@code Connections} bounds connections and time, {@code Routes} is the one table of
 * what there is, {@code Call} is a request with its one answer, {@code Bodies} reads what it brought, within limits, {@code JobReader} makes jobs
 * of it, and a class for each resource does the rest. Handlers run on event loops and never block; what blocks goes to {@code Blocking}.
 */
@NullMarked
package io.minutehand.router.http;

import org.jspecify.annotations.NullMarked;
