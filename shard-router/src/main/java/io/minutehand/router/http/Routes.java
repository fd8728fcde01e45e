package io.minutehand.router.http;

import io.minutehand.core.admin.Admin;
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
     * @param admin looks at the cluster, and blocks
     * @param blocking has threads for that
     * @param bodies reads bodies
     * @param health tells how the router is
     * @param settings of the router
     */
    record Parts(
            JobRouter router,
            Topics topics,
            Admin admin,
            Blocking blocking,
            Bodies bodies,
            Health health,
            HttpSettings settings) {}

    /** The table; those that are called most come first. */
    static List<Route> of(Parts parts) {
        JobsResource jobs = new JobsResource(parts.router(), parts.topics(), parts.bodies(), parts.settings());
        BatchResource batches = new BatchResource(
                new Items(parts.router(), parts.topics(), parts.settings()), parts.bodies(), parts.settings());
        TopicsResource topics = new TopicsResource(parts.topics(), parts.admin(), parts.blocking(), parts.bodies());
        DeadLettersResource dead =
                new DeadLettersResource(parts.topics(), parts.admin(), parts.blocking(), parts.bodies());
        NodesResource nodes = new NodesResource(parts.admin(), parts.blocking());
        return List.of(
                new Route(HttpMethod.POST, "/v1/topics/{topic}/jobs", Access.PRODUCE, jobs::schedule),
                new Route(HttpMethod.POST, "/v1/jobs:batch", Access.PRODUCE_SOMEWHERE, batches::schedule),
                new Route(HttpMethod.GET, "/v1/topics/{topic}/jobs/{id}", Access.READ, jobs::show),
                new Route(HttpMethod.DELETE, "/v1/topics/{topic}/jobs/{id}", Access.PRODUCE, jobs::cancel),
                new Route(HttpMethod.PATCH, "/v1/topics/{topic}/jobs/{id}", Access.PRODUCE, jobs::move),
                new Route(HttpMethod.GET, "/v1/topics", Access.READ_SOMEWHERE, topics::list),
                new Route(HttpMethod.GET, "/v1/topics/{topic}", Access.READ, topics::show),
                new Route(HttpMethod.PUT, "/v1/topics/{topic}", Access.ADMIN, topics::declare),
                new Route(HttpMethod.PATCH, "/v1/topics/{topic}", Access.ADMIN, topics::change),
                new Route(HttpMethod.PUT, "/v1/topics/{topic}/pause", Access.ADMIN, topics::pause),
                new Route(HttpMethod.DELETE, "/v1/topics/{topic}/pause", Access.ADMIN, topics::resume),
                new Route(HttpMethod.GET, "/v1/topics/{topic}/buckets", Access.READ, topics::buckets),
                new Route(HttpMethod.GET, "/v1/topics/{topic}/dead-letters", Access.READ, dead::list),
                new Route(HttpMethod.GET, "/v1/topics/{topic}/dead-letters/{id}", Access.READ, dead::show),
                new Route(HttpMethod.POST, "/v1/topics/{topic}/dead-letters:redrive", Access.ADMIN, dead::redrive),
                new Route(HttpMethod.POST, "/v1/topics/{topic}/dead-letters:purge", Access.ADMIN, dead::purge),
                new Route(HttpMethod.GET, "/v1/nodes", Access.READ_ALL, nodes::list),
                new Route(HttpMethod.GET, "/openapi.json", Access.ANY_KEY, OpenApi::show),
                new Route(HttpMethod.GET, "/healthz", Access.OPEN, parts.health()::alive),
                new Route(HttpMethod.GET, "/readyz", Access.OPEN, parts.health()::ready));
    }
}
