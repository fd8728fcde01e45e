package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.minutehand.core.admin.Admin;
import io.minutehand.core.admin.Admin.NodeView;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/** {@code GET /v1/nodes}: the nodes on the list of the living, and whether they beat. */
final class NodesResource {
    /** Longer than a beat. */
    private static final Duration WATCH = Duration.ofMillis(2500);

    private final Admin admin;
    private final Blocking blocking;

    NodesResource(Admin admin, Blocking blocking) {
        this.admin = admin;
        this.blocking = blocking;
    }

    void list(Call call) {
        blocking.answer(call, () -> {
            ObjectNode body = Json.MAPPER.createObjectNode();
            ArrayNode nodes = body.putArray("nodes");
            admin.nodes(WATCH).forEach(node -> fill(nodes.addObject(), node));
            return body;
        });
    }

    private static void fill(ObjectNode body, NodeView node) {
        Map<String, String> description = node.description();
        body.put("id", node.id());
        body.put("name", node.name());
        body.put("beats", node.beats());
        Duration lastBeat = node.lastBeat();
        if (lastBeat != null) {
            body.put("lastBeatMs", lastBeat.toMillis());
        }
        body.put("silent", lastBeat == null);
        names(body.putArray("topics"), description.getOrDefault("topics", ""));
        names(body.putArray("withoutSlotsFor"), description.getOrDefault("shed", ""));
        body.put("stopping", Boolean.parseBoolean(description.get("draining")));
    }

    private static void names(ArrayNode list, String text) {
        Arrays.stream(text.split(",", -1)).filter(name -> !name.isEmpty()).forEach(list::add);
    }
}
