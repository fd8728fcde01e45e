package io.minutehand.orders;

import io.minutehand.orders.OrderService.Payment;
import io.minutehand.orders.Trouble.NotPossibleException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates orders at a rate, pays some of them at random moments around their time, breaks something when half of them are due, waits until none is
 * open, and reads the balance. Used once.
 */
final class OrderRun {
    private static final Logger log = LoggerFactory.getLogger(OrderRun.class);

    /** An order is paid up to so long before or after its time: the worker comes at the same moment. */
    static final Duration AROUND = Duration.ofMillis(5);

    private static final int CREATORS = 8;
    private static final int PAYERS = 12;
    private static final long LOOK_MS = 200;
    private static final long TELL_MS = 2000;

    /** Until what a killed worker had in hand has come again: what it had done already must not be done twice. */
    private static final Duration TAKE_OVER = Duration.ofSeconds(10);

    /** Orders that are open so long after all should have ended will stay so. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * What is to be done.
     *
     * @param orders how many
     * @param rate in a second
     * @param payShare 0 to 1, of the orders
     * @param seed which of them, and when
     * @param killWorker whether a worker is killed
     * @param flush whether Redis is emptied
     * @param stopRedis how long Redis is killed, or null
     */
    record Plan(
            int orders,
            double rate,
            double payShare,
            long seed,
            boolean killWorker,
            boolean flush,
            @Nullable Duration stopRedis) {
        /** How long past its time an order may be open: an outage of Redis, and a scan when jobs were lost, are added. */
        Duration grace(Duration scan) {
            Duration grace = Balance.GRACE;
            if (flush || stopRedis != null) {
                grace = grace.plus(scan);
            }
            return stopRedis == null ? grace : grace.plus(stopRedis);
        }
    }

    /**
     * What came out.
     *
     * @param plan what was to be done
     * @param created orders whose transaction was answered
     * @param notCreated orders whose transaction failed
     * @param paid payments that were answered with PAID
     * @param tooLate payments that a worker beat
     * @param paymentsFailed payments without an answer
     * @param missing open orders that the reconciler found without a job; of a few of them the order was committed a moment before
     * @param missingAfterTrouble those of them since something was broken
     * @param openAtTrouble orders that were open when something was broken
     * @param direct jobs that were scheduled right after their commit
     * @param relayed jobs that the relay scheduled
     * @param took from the first order to the balance
     * @param balance the books
     */
    record Result(
            Plan plan,
            long created,
            long notCreated,
            long paid,
            long tooLate,
            long paymentsFailed,
            long missing,
            long missingAfterTrouble,
            long openAtTrouble,
            long direct,
            long relayed,
            Duration took,
            Balance balance) {
        /** Whether all orders were made, the books are settled, and they say what the answers said. */
        boolean passed() {
            return balance.settled()
                    && created == plan.orders()
                    && created == balance.created()
                    && (paymentsFailed > 0 || paid == balance.paid());
        }
    }

    private final Site site;
    private final Plan plan;
    private final Consumer<String> teller;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicLong created = new AtomicLong();
    private final AtomicLong notCreated = new AtomicLong();
    private final AtomicLong paid = new AtomicLong();
    private final AtomicLong tooLate = new AtomicLong();
    private final AtomicLong paymentsFailed = new AtomicLong();
    private final AtomicReference<@Nullable Exception> firstFailure = new AtomicReference<>();
    private long missingBefore;
    private long openAtTrouble;

    OrderRun(Site site, Plan plan, Consumer<String> teller) {
        this.site = site;
        this.plan = plan;
        this.teller = teller;
    }

    /**
     * Runs it.
     *
     * @throws SQLException when the balance cannot be read
     * @throws NotPossibleException when there is nothing to break
     * @throws InterruptedException when the run is to end early
     */
    Result run() throws SQLException, NotPossibleException, InterruptedException {
        long beganNs = System.nanoTime();
        Duration clockAhead = site.orders().clockAhead();
        CountDownLatch creating = new CountDownLatch(CREATORS);
        ExecutorService creators = Executors.newFixedThreadPool(CREATORS);
        ScheduledExecutorService payers = Executors.newScheduledThreadPool(PAYERS);
        try {
            Payments payments = new Payments(payers, clockAhead);
            for (int i = 0; i < CREATORS; i++) {
                creators.execute(() -> {
                    try {
                        create(beganNs, payments);
                    } finally {
                        creating.countDown();
                    }
                });
            }
            Duration creation = Duration.ofNanos((long) (plan.orders() / plan.rate() * 1e9));
            Duration delay = site.settings().delay();
            long halfDueNs = beganNs + creation.dividedBy(2).plus(delay).toNanos();
            waitFor(beganNs, () -> System.nanoTime() >= halfDueNs);
            long settledNs = System.nanoTime() + (breakThings() ? TAKE_OVER.toNanos() : 0);
            waitFor(beganNs, () -> creating.getCount() == 0);
            long patienceNs = System.nanoTime()
                    + delay.plus(plan.grace(site.settings().scan()))
                            .plus(PATIENCE)
                            .toNanos();
            waitFor(
                    beganNs,
                    () -> System.nanoTime() >= settledNs
                            && (System.nanoTime() >= patienceNs
                                    || (payments.done() && site.orders().open() == 0)));
        } finally {
            creators.shutdownNow();
            payers.shutdownNow();
        }
        return result(Duration.ofNanos(System.nanoTime() - beganNs));
    }

    private Result result(Duration took) throws SQLException {
        Exception failure = firstFailure.get();
        if (failure != null) {
            log.warn("run: the first of the failures", failure);
        }
        long missing = site.missing();
        return new Result(
                plan,
                created.get(),
                notCreated.get(),
                paid.get(),
                tooLate.get(),
                paymentsFailed.get(),
                missing,
                breaks() ? missing - missingBefore : 0,
                openAtTrouble,
                site.service().direct().scheduled(),
                site.service().relayed().scheduled(),
                took,
                site.orders().balance(plan.grace(site.settings().scan())));
    }

    /** Creates by the clock: an order that is late does not put off those behind it. */
    private void create(long beganNs, Payments payments) {
        Item[] items = Item.values();
        for (int i = next.getAndIncrement(); i < plan.orders(); i = next.getAndIncrement()) {
            long atNs = beganNs + (long) (i / plan.rate() * 1e9);
            while (System.nanoTime() < atNs) {
                LockSupport.parkNanos(atNs - System.nanoTime());
                if (Thread.currentThread().isInterrupted()) {
                    return;
                }
            }
            try {
                Order order = site.service().create(items[i % items.length]);
                created.incrementAndGet();
                payments.plan(i, order);
            } catch (SQLException | RuntimeException e) {
                failed(notCreated, e);
            }
        }
    }

    private void failed(AtomicLong counter, Exception failure) {
        counter.incrementAndGet();
        firstFailure.compareAndSet(null, failure);
    }

    private boolean breaks() {
        return plan.killWorker() || plan.flush() || plan.stopRedis() != null;
    }

    private boolean breakThings() throws NotPossibleException, SQLException {
        if (!breaks()) {
            return false;
        }
        missingBefore = site.missing();
        if (plan.killWorker()) {
            site.trouble().killWorker();
        }
        if (plan.flush()) {
            site.trouble().flush();
        }
        Duration stop = plan.stopRedis();
        if (stop != null) {
            site.trouble().stopRedis(stop);
        }
        openAtTrouble = site.orders().open();
        return true;
    }

    private interface Condition {
        boolean holds() throws SQLException;
    }

    private long toldNs = System.nanoTime();

    private void waitFor(long beganNs, Condition condition) throws SQLException, InterruptedException {
        while (!condition.holds()) {
            Thread.sleep(LOOK_MS);
            if (System.nanoTime() - toldNs > TimeUnit.MILLISECONDS.toNanos(TELL_MS)) {
                toldNs = System.nanoTime();
                teller.accept(String.format(
                        Locale.ROOT,
                        "%5.1f s  created %,d, open %,d, paid %,d, too late to pay %,d",
                        (toldNs - beganNs) / 1e9,
                        created.get(),
                        site.orders().open(),
                        paid.get(),
                        tooLate.get()));
            }
        }
    }

    /** Who pays, and when: decided by the seed, whatever the threads do. */
    private final class Payments {
        private final ScheduledExecutorService payers;
        private final Duration clockAhead;
        private final boolean[] pays;
        private final int[] offsetUs;
        private final AtomicLong planned = new AtomicLong();
        private final AtomicLong ended = new AtomicLong();

        Payments(ScheduledExecutorService payers, Duration clockAhead) {
            this.payers = payers;
            this.clockAhead = clockAhead;
            this.pays = new boolean[plan.orders()];
            this.offsetUs = new int[plan.orders()];
            Random random = new Random(plan.seed());
            int around = (int) TimeUnit.NANOSECONDS.toMicros(AROUND.toNanos());
            for (int i = 0; i < plan.orders(); i++) {
                pays[i] = random.nextDouble() < plan.payShare();
                offsetUs[i] = random.nextInt(2 * around + 1) - around;
            }
        }

        void plan(int index, Order order) {
            if (!pays[index]) {
                return;
            }
            planned.incrementAndGet();
            Duration left = Duration.between(
                            java.time.Instant.now(), order.dueAt().minus(clockAhead))
                    .plusNanos(offsetUs[index] * 1000L);
            var unused = payers.schedule(() -> pay(order.id()), left.toNanos(), TimeUnit.NANOSECONDS);
        }

        private void pay(long orderId) {
            try {
                Payment payment = site.service().pay(orderId);
                (payment == Payment.PAID ? paid : tooLate).incrementAndGet();
            } catch (SQLException | RuntimeException e) {
                failed(paymentsFailed, e);
            } finally {
                ended.incrementAndGet();
            }
        }

        boolean done() {
            return ended.get() >= planned.get();
        }
    }
}
