package io.minutehand.router.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.minutehand.core.job.Job;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** A stored job as callers see it. Stateless. */
final class JobText {
    private JobText() {}

    /** Tells all of a job. Its payload is shown as it is where that is JSON, else as Base64. */
    static void fill(ObjectNode body, Job job) {
        body.put("attempt", job.attempt());
        body.put("delivery", job.delivery());
        body.put("dueAt", job.dueAt().toString());
        body.put("createdAt", job.createdAt().toString());
        if (job.businessId() != null) {
            body.put("businessId", job.businessId());
        }
        if (!job.headers().isEmpty()) {
            ObjectNode headers = body.putObject("headers");
            job.headers().forEach(headers::put);
        }
        if (job.lastFailure() != null) {
            body.put("lastFailure", job.lastFailure());
        }
        if (isJson(job.payload())) {
            body.putRawValue("payload", new RawValue(new String(job.payload(), StandardCharsets.UTF_8)));
        } else {
            body.put("payloadBase64", Base64.getEncoder().encodeToString(job.payload()));
        }
    }

    private static boolean isJson(byte[] payload) {
        try {
            return Json.read(payload, parser -> {
                parser.skipChildren();
                parser.finishToken();
                return true;
            });
        } catch (Problem malformed) {
            return false;
        }
    }
}
