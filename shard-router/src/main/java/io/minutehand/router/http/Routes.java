package io.minutehand.router.http;

import io.minutehand.router.JobRouter;
import io.minutehand.router.http.Route.Access;
import io.vertx.core.http.HttpMethod;
import java.util.List;

/** The one table of all that can be done: the server, its document and the tests of its safety are made from it. */
final class Routes {
    private Routes() {}

    /**
     * What the handlers work with.
     *
     * @param router stores jobs
     * @param topics knows topics
     * @param bodies reads bodies
     * @param health tells how the router is
     * @param settings of the router
     */
    record Parts(JobRouter router, Topics topics, Bodies bodies, Health health, HttpSettings settings) {}

    /** The table; those that are called most come first. */
    static List<Route> of(Parts parts) {
        JobsResource jobs = new JobsResource(parts.router(), parts.topics(), parts.bodies(), parts.settings());
        return List.of(
                new Route(HttpMethod.POST, "/v1/topics/{topic}/jobs", Access.PRODUCE, jobs::schedule),
                new Route(HttpMethod.GET, "/v1/topics/{topic}/jobs/{id}", Access.READ, jobs::show),
                new Route(HttpMethod.DELETE, "/v1/topics/{topic}/jobs/{id}", Access.PRODUCE, jobs::cancel),
                new Route(HttpMethod.PATCH, "/v1/topics/{topic}/jobs/{id}", Access.PRODUCE, jobs::move),
                new Route(HttpMethod.GET, "/healthz", Access.OPEN, parts.health()::alive),
                new Route(HttpMethod.GET, "/readyz", Access.OPEN, parts.health()::ready));
    }
}
