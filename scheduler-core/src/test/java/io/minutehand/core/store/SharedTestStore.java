package io.minutehand.core.store;

import io.minutehand.redis.SharedRedis;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives constructors of store tests the one {@link TestStore} with unchanged scripts that the JVM needs, each time with a shard that nobody used.
 * It ends with the run.
 */
final class SharedTestStore implements ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(SharedTestStore.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == TestStore.class;
    }

    @Override
    public TestStore resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestStore store = context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(TestStore.class, key -> TestStore.open(), TestStore.class);
        SharedRedis.get(); // counts the test as one on it
        store.freshShard();
        return store;
    }
}
