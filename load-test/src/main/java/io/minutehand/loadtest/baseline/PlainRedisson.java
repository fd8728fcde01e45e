package io.minutehand.loadtest.baseline;

import io.minutehand.loadtest.baseline.Scheduler.Target;
import java.net.URI;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/** Clients for the baselines: Redisson as it comes, on a single server. */
final class PlainRedisson {
    private PlainRedisson() {}

    static RedissonClient connect(Target target) {
        URI uri = URI.create(target.redis());
        String userInfo = uri.getUserInfo();
        Config config = new Config();
        config.setCodec(ByteArrayCodec.INSTANCE);
        if (userInfo != null) {
            int colon = userInfo.indexOf(':');
            config.setPassword(userInfo.substring(colon + 1));
            if (colon > 0) {
                config.setUsername(userInfo.substring(0, colon));
            }
        }
        config.useSingleServer().setAddress(uri.getScheme() + "://" + uri.getHost() + ":" + uri.getPort());
        return Redisson.create(config);
    }
}
