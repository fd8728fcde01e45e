package io.minutehand.router;

import io.minutehand.core.job.Durability;
import java.time.Duration;

/** Lets the README's test see the router's defaults, which no user's code needs to. */
public final class RouterDefaults {
    private RouterDefaults() {}

    public static long bufferBytes() {
        return RouterSettings.defaults().bufferBytes();
    }

    public static OnFull onFull() {
        return RouterSettings.defaults().onFull();
    }

    public static Duration blockFor() {
        return RouterSettings.defaults().blockFor();
    }

    public static Durability durability() {
        return RouterSettings.defaults().durability();
    }

    public static Duration deadline() {
        return RouterSettings.defaults().deadline();
    }
}
