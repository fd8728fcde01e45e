package io.minutehand.loadtest.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.minutehand.source.FreePorts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole topology as processes, with a producer and a receiver of webhooks here: what its clients see while it is restarted, or cut apart. */
@Tag("faults")
class LocalClusterFaultsIT {
    private static final String TOPIC = "orders";

    /** Jobs a second. An idle machine of two cores carries 2,000; one that does other things as well does not. */
    private static final int RATE = Integer.getInteger("local.rate", 500);

    private static final int CUT_RATE = Integer.getInteger("local.cut-rate", 500);
    private static final Duration CUT = Duration.ofSeconds(30);

    /** Far more than on an idle machine: a busy one starts JVMs beside the load. */
    private static final long LATEST_MS = 30_000;

    /** Deliveries at once of all workers, and those that were answered and not yet acknowledged. */
    private static final int IN_FLIGHT = 4 * 64 * 2;

    @Test
    void shouldBeRestartedNodeByNodeWithoutItsClientsSeeingIt() {
        int port = FreePorts.next();
        try (WebhookReceiver receiver = WebhookReceiver.listen("127.0.0.1", port);
                LocalCluster cluster =
                        LocalCluster.up(List.of("--webhook", TOPIC + "=http://127.0.0.1:" + port + "/hooks"));
                HttpProducer producer = new HttpProducer(cluster.routers(""), TOPIC, cluster.key())) {
            warmUp(producer, receiver, RATE);
            System.out.print(cluster.must("roll"));
            producer.awaitAccepted(RATE * 5);
            finish("roll rate=" + RATE, cluster, producer, receiver);
            assertThat(receiver.duplicates()).as("duplicates").isZero();
            assertThat(producer.failed()).as("failed calls").isZero();
            assertThat(receiver.latestMs()).as("lateness of the latest, ms").isLessThan(LATEST_MS);
        }
    }

    @Test
    void shouldGoOnWithoutTheHostsOfAWorkerAndOfAPrimary() {
        assumeTrue(hasNamespaces(), "network namespaces are for root, with ip netns");
        String subnet = "10." + ThreadLocalRandom.current().nextInt(200, 250) + "."
                + ThreadLocalRandom.current().nextInt(0, 256);
        int port = FreePorts.next();
        String webhook = TOPIC + "=http://" + subnet + ".1:" + port + "/hooks";
        try (LocalCluster cluster = LocalCluster.up(List.of("--netns", "--subnet", subnet, "--webhook", webhook));
                WebhookReceiver receiver = WebhookReceiver.listen(subnet + ".1", port);
                HttpProducer producer = new HttpProducer(cluster.routers(subnet), TOPIC, cluster.key())) {
            warmUp(producer, receiver, CUT_RATE);
            assertThat(cluster.must("status")).containsPattern("redis-1 .* primary 0-");
            cluster.must("cut", "worker-2");
            cluster.must("cut", "redis-1");
            long cutNs = System.nanoTime();
            LocalCluster.Ended during = cluster.run("status");
            System.out.print(during.output());
            assertThat(during.status()).as("exit status of status").isEqualTo(1);
            assertThat(during.output()).containsPattern("worker-2 .* cut off").containsPattern("redis-1 .* cut off");
            await("the hosts were off for " + CUT)
                    .atMost(CUT.multipliedBy(2))
                    .until(() -> System.nanoTime() - cutNs > CUT.toNanos());
            int before = producer.accepted();
            cluster.must("heal", "worker-2");
            cluster.must("heal", "redis-1");
            assertThat(before).as("jobs that were accepted meanwhile").isGreaterThan(CUT_RATE * 10);
            await("all nodes are ready again")
                    .atMost(Duration.ofMinutes(2))
                    .until(() -> cluster.run("status").status() == 0);
            System.out.print(cluster.must("status"));
            producer.awaitAccepted(CUT_RATE * 5);
            finish("cut rate=" + CUT_RATE, cluster, producer, receiver);
            assertThat(receiver.duplicates()).as("duplicates").isLessThanOrEqualTo(IN_FLIGHT);
        }
    }

    private static void warmUp(HttpProducer producer, WebhookReceiver receiver, int rate) {
        producer.produce(rate);
        producer.awaitAccepted(rate * 8);
        receiver.measureAnew();
    }

    private static void finish(String what, LocalCluster cluster, HttpProducer producer, WebhookReceiver receiver) {
        try {
            producer.settle();
            receiver.awaitAll(producer.jobs());
        } finally {
            System.out.println("local-cluster " + what + " lost="
                    + receiver.missing(producer.jobs()).size() + " " + producer.figures() + " " + receiver.figures());
            producer.faults().forEach(System.out::println);
            if (producer.failed() > 0 || !receiver.missing(producer.jobs()).isEmpty()) {
                System.out.println(cluster.logs());
            }
        }
        assertThat(receiver.early()).as("early").isZero();
        // By the ledgers in Redis, too, nothing is amiss.
        await("the audit finds nothing")
                .atMost(Duration.ofMinutes(1))
                .until(() -> cluster.run("admin", "audit").status() == 0);
    }

    private static boolean hasNamespaces() {
        String name = "minutehand-probe-" + ProcessHandle.current().pid();
        return LocalCluster.run(new ProcessBuilder("bash", "-c", "ip netns add " + name + " && ip netns del " + name))
                        .status()
                == 0;
    }
}
