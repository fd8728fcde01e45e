package io.minutehand.worker;

import io.minutehand.core.store.RedisOptions;
import io.minutehand.worker.jdbc.HandledJobs;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/** A node as a process of its own that makes each effect, commits, and never acknowledges: to be killed. */
final class HandledProcess {
    private HandledProcess() {}

    public static void main(String[] args) throws InterruptedException {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(System.getenv("TEST_POSTGRES"));
        JobHandler<byte[]> once = HandledJobs.inTable().once(database, HandledJobsIT.effectOf("process"));
        CountDownLatch never = new CountDownLatch(1);
        WorkerNode.builder()
                .redis(RedisOptions.of(System.getenv("TEST_REDIS")).withNamespace(System.getenv("TEST_NAMESPACE")))
                .name("process")
                .settings(Workers.FAST)
                .handle("points", (payload, job) -> {
                    once.handle(payload, job);
                    never.await();
                })
                .start();
        never.await();
    }
}
