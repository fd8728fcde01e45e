package io.minutehand.loadtest.fault;

import io.minutehand.core.bucket.Keyspace;
import io.minutehand.loadtest.fleet.Fleet;
import io.minutehand.loadtest.fleet.RedisClock;
import io.minutehand.loadtest.fleet.RedisProbe;
import io.minutehand.loadtest.fleet.WorkerProcess;
import io.minutehand.loadtest.ledger.LedgerRecord.NodeEvent;
import io.minutehand.loadtest.ledger.LedgerWriter;
import io.minutehand.loadtest.report.RunFacts.Kill;
import io.minutehand.redis.LinkProxy;
import io.minutehand.redis.RedisBinary;
import io.minutehand.redis.RedisCluster;
import io.minutehand.redis.RedisCommands;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisServer;
import io.minutehand.redis.RedisSettings;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * What a row breaks things in: Redis, workers, links, load. The row's script runs on one thread; what it does to nodes
 * and Redis stands in the ledger. Whatever was started is gone after {@link #close} and when this JVM ends.
 */
final class Arena implements AutoCloseable {
    static final String NAMESPACE = "mhfault";

    private static final String ROUTER = "router";
    private static final Duration START_LIMIT = Duration.ofSeconds(90);
    private static final long LOOK_MS = 20;

    /** Of a Cluster; with a replica each. */
    private static final int PRIMARIES = 3;

    /** After a halt, until what the worker had sent before is in Redis, ms. */
    private static final long SETTLE_MS = 5;

    /** After a halt, until what the worker had sent before is certainly in Redis, ms. */
    private static final long SENT_MS = 300;

    private final RunSettings settings;
    private final Random random;
    private final PrivateDirectory home;
    private final Path workDir;
    private final RedisInstance redis;
    private final LedgerWriter ledger;
    private final RedisClock clock;
    private final Fleet fleet;
    private final Map<String, LinkProxy> links = new ConcurrentHashMap<>();
    private final Map<String, WallClock> clocks = new ConcurrentHashMap<>();
    private final Load load;
    private final Set<WorkerProcess> halted = ConcurrentHashMap.newKeySet();
    private final List<Kill> kills = new CopyOnWriteArrayList<>();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private long exposed;
    private volatile boolean endsExpected;
    private long loadBeganNs;

    private Arena(RunSettings settings, long seed, PrivateDirectory home, RedisInstance redis) throws IOException {
        this.settings = settings;
        this.random = new Random(seed);
        this.home = home;
        this.workDir = home.path();
        this.redis = redis;
        settings.write(workDir);
        this.ledger = LedgerWriter.create(workDir, "harness");
        this.clock = RedisClock.watch(redis.connect());
        this.fleet = new Fleet(
                home,
                workDir,
                new WorkerProcess.Kind(
                        "fault-worker",
                        128,
                        WorkerProcess.Compiler.SOON,
                        name -> List.of("--name", name, "--namespace", NAMESPACE, "--work-dir", workDir.toString()),
                        this::environmentOf));
        this.load = new Load(settings, seed, uriOf(ROUTER), ledger, clock);
    }

    /** Starts Redis and connects the producers; no worker yet. */
    static Arena open(RunSettings settings, long seed) throws IOException {
        PrivateDirectory home = PrivateDirectory.create("fault");
        RedisInstance redis = null;
        try {
            RedisSettings setup = RedisSettings.defaults().withAppendOnly().withDebugCommand();
            if (settings.clocks() == RunSettings.Clocks.OF_REDIS) {
                setup = setup.withSteppedClock();
            }
            setup = setup.with(settings.redisConfig().lines().toArray(String[]::new));
            redis = settings.cluster()
                    ? RedisCluster.start(RedisBinary.locate(), PRIMARIES, 1, setup)
                    : RedisServer.start(setup);
            return new Arena(settings, seed, home, redis);
        } catch (IOException | RuntimeException e) {
            if (redis != null) {
                redis.close();
            }
            home.close();
            throw e;
        }
    }

    private Map<String, String> environmentOf(String worker) {
        Map<String, String> environment = new HashMap<>(Map.of(
                FaultWorkerCommand.DIRECT_VARIABLE,
                servers().get(0).uri(),
                FaultWorkerCommand.LINK_VARIABLE,
                uriOf(worker)));
        if (settings.clocks() == RunSettings.Clocks.OF_WORKERS) {
            environment.putAll(clockOf(worker).environment());
        }
        return environment;
    }

    /** The wall clock of a worker, which may not have started; only if the run sets them. */
    WallClock clockOf(String worker) {
        return clocks.computeIfAbsent(worker, name -> WallClock.create(workDir, name));
    }

    private String uriOf(String link) {
        return settings.proxied() ? link(link).uri() : redis.uri();
    }

    RunSettings settings() {
        return settings;
    }

    /** The dice of the row's script. */
    Random random() {
        return random;
    }

    /** Redis, whatever it is. */
    RedisInstance instance() {
        return redis;
    }

    /** The single server; only if the run has one. */
    RedisServer redis() {
        if (redis instanceof RedisServer server) {
            return server;
        }
        throw new IllegalStateException("the run has " + redis.describe() + " and no single server");
    }

    /** The Cluster; only if the run has one. */
    RedisCluster cluster() {
        if (redis instanceof RedisCluster cluster) {
            return cluster;
        }
        throw new IllegalStateException("the run has " + redis.describe() + " and no Cluster");
    }

    private List<RedisServer> servers() {
        return redis instanceof RedisCluster cluster ? cluster.nodes() : List.of(redis());
    }

    /** The servers that take writes now. */
    List<RedisServer> primaries() {
        return redis instanceof RedisCluster cluster ? cluster.primaries() : List.of(redis());
    }

    RedisClock clock() {
        return clock;
    }

    Fleet fleet() {
        return fleet;
    }

    Load load() {
        return load;
    }

    /** Where processes run that must not outlive this one. */
    PrivateDirectory home() {
        return home;
    }

    Path workDir() {
        return workDir;
    }

    /** The proxy before Redis of a worker; only if the run has proxies. */
    LinkProxy link(WorkerProcess worker) {
        return link(worker.name());
    }

    /** The proxy before Redis of the producers; only if the run has proxies. */
    LinkProxy routerLink() {
        return link(ROUTER);
    }

    /** All proxies of the run. */
    List<LinkProxy> links() {
        return List.copyOf(links.values());
    }

    private LinkProxy link(String name) {
        return links.computeIfAbsent(name, unused -> LinkProxy.before(redis()));
    }

    /** Nodes that were killed, in that order. */
    List<Kill> kills() {
        return kills;
    }

    /** What happened, in words. */
    List<String> events() {
        return events;
    }

    /** Jobs that were in flight on nodes at the moments at which these were struck: they may run twice. */
    long exposed() {
        return exposed;
    }

    /** Allows so many jobs to run twice. */
    void expose(long jobs) {
        exposed += jobs;
    }

    /** Allows as many jobs to run twice as can be in flight at once. */
    void exposeAllSlots() {
        expose((long) settings.nodes() * settings.slots());
    }

    /** Takes it for granted from now on that workers end by themselves. */
    void expectEnds() {
        endsExpected = true;
    }

    /** Whether workers may end by themselves. */
    boolean endsExpected() {
        return endsExpected;
    }

    /** Starts the workers and waits until they share the topic. */
    void launch() throws InterruptedException {
        for (int i = 0; i < settings.nodes(); i++) {
            fleet.add();
        }
        long beganNs = System.nanoTime();
        while (fleet.ready().size() < settings.nodes()) {
            fleet.requireAllStarting(System.nanoTime() - beganNs);
            Thread.sleep(LOOK_MS);
        }
        awaitShared();
    }

    /** Waits until all workers that are alive have joined, and every shard has an owner. */
    void awaitShared() throws InterruptedException {
        await(
                "the workers to share the topic",
                START_LIMIT,
                () -> fleet.workers().stream().allMatch(worker -> !worker.isAlive() || isReady(worker))
                        && allShardsOwned());
    }

    private boolean allShardsOwned() {
        return fleet.ready().stream()
                        .mapToLong(worker -> worker.status().count("owned"))
                        .sum()
                == settings.shards();
    }

    /** Whether a worker says that it is a member and takes jobs. */
    static boolean isReady(WorkerProcess worker) {
        return worker.nodeId() != null && worker.status().count("ready") == 1;
    }

    /** One more worker; does not wait for it. */
    WorkerProcess addWorker() {
        WorkerProcess worker = fleet.add();
        event(worker.name(), "started", "");
        return worker;
    }

    /** Waits until a worker takes jobs. */
    void awaitReady(WorkerProcess worker) throws InterruptedException {
        await(worker.name() + " to be ready", START_LIMIT, () -> isReady(worker));
    }

    /** A worker that takes jobs, chosen by the dice; of those that hold buckets, if some do. */
    WorkerProcess anyWorker() {
        List<WorkerProcess> ready = fleet.ready().stream()
                .filter(worker -> !halted.contains(worker))
                .toList();
        if (ready.isEmpty()) {
            throw new IllegalStateException("no worker is ready; " + states());
        }
        // Who has just joined has none before the next minute: to strike it would show nothing.
        List<WorkerProcess> atWork =
                ready.stream().filter(worker -> worker.status().held() > 0).toList();
        List<WorkerProcess> choice = atWork.isEmpty() ? ready : atWork;
        return choice.get(random.nextInt(choice.size()));
    }

    /** Under which ids the workers are nodes now, in the order in which they were started. */
    List<String> nodeIds() {
        return fleet.workers().stream()
                .map(worker -> String.valueOf(worker.nodeId()))
                .toList();
    }

    /** Halts a worker (SIGSTOP) and says what Redis holds as handed to it and leased by it. */
    RedisProbe.Holdings halt(WorkerProcess worker) throws IOException, InterruptedException {
        String nodeId = String.valueOf(worker.nodeId());
        worker.halt();
        halted.add(worker);
        Thread.sleep(SETTLE_MS);
        try (RedisProbe probe = probe()) {
            RedisProbe.Holdings holdings = probe.holdings(nodeId);
            event(
                    worker.name(),
                    "halted",
                    holdings.held().size() + " buckets and " + holdings.inFlight() + " jobs in flight");
            return holdings;
        }
    }

    /**
     * Halts a worker when it has leases and jobs in flight, which are counted as exposed; waits for such a moment. What
     * it had sent before has been executed then: the jobs are still in flight a good while after it was halted.
     */
    RedisProbe.Holdings haltAtWork(WorkerProcess worker, Duration limit) throws IOException, InterruptedException {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        while (true) {
            RedisProbe.Holdings holdings = halt(worker);
            if (holdings.inFlight() > 0 && !holdings.held().isEmpty()) {
                Thread.sleep(SENT_MS);
                try (RedisProbe probe = probe()) {
                    holdings = probe.holdings(String.valueOf(worker.nodeId()));
                }
                if (holdings.inFlight() > 0) {
                    expose(holdings.inFlight());
                    return holdings;
                }
            }
            resume(worker);
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(worker.name() + " had no jobs in flight within " + limit
                        + ", so halting it would show nothing; " + states());
            }
            Thread.sleep(1 + random.nextInt(40));
        }
    }

    /** Holds all jobs of a worker at a point, and waits until each that it runs has come there, one at least. */
    void holdAll(WorkerProcess worker, HoldPoint point) throws InterruptedException {
        point.hold(workDir, worker.name());
        event(worker.name(), "held at " + point, "");
        await("jobs of " + worker.name() + " to be held at " + point, START_LIMIT, () -> {
            long held = worker.status().count("barrier");
            return held > 0 && held == worker.status().running();
        });
    }

    /** Waits until the others have found a node dead. */
    void awaitStruckOff(String nodeId) throws InterruptedException {
        String nodes = new Keyspace(NAMESPACE).nodes();
        try (RedisCommands commands = commands()) {
            await(
                    "node " + nodeId + " to be found dead",
                    START_LIMIT,
                    () -> commands.text("ZSCORE", nodes, nodeId) == null);
        }
    }

    /** Lets a halted worker go on. */
    void resume(WorkerProcess worker) throws IOException, InterruptedException {
        if (halted.remove(worker) && worker.isAlive()) {
            worker.resume();
            event(worker.name(), "continued", "");
        }
    }

    /** Kills a worker (SIGKILL) with whatever it has; its jobs in flight are counted as exposed. */
    Kill kill(WorkerProcess worker) throws IOException, InterruptedException {
        RedisProbe.Holdings holdings = halt(worker);
        return kill(worker, holdings);
    }

    /** Kills a worker that was halted. */
    Kill kill(WorkerProcess worker, RedisProbe.Holdings holdings) {
        Kill kill = new Kill(worker.name(), clock.nowUs(), holdings.inFlight(), holdings.held());
        worker.kill();
        halted.remove(worker);
        fleet.killed(worker);
        kills.add(kill);
        expose(holdings.inFlight());
        event(worker.name(), "killed", holdings.inFlight() + " jobs in flight");
        return kill;
    }

    /** Kills Redis, at a moment at which it holds nothing back, and starts it again with its data. Returns the outage, ms. */
    long restartRedis(Duration down) throws InterruptedException {
        long beganNs = System.nanoTime();
        redis().killOnceWritten();
        event("redis", "killed", "");
        Thread.sleep(down.toMillis());
        redis().restart();
        long outageMs = (System.nanoTime() - beganNs) / 1_000_000;
        event("redis", "restarted", "after " + outageMs + " ms");
        return outageMs;
    }

    /** A look into Redis by plain commands. Close it. */
    RedisProbe probe() {
        return new RedisProbe(redis.connect(), NAMESPACE, List.of(RunSettings.TOPIC), settings.shards());
    }

    /** A connection to Redis itself. Close it. */
    RedisCommands commands() {
        return redis.connect();
    }

    /** Begins to schedule. */
    void startLoad() {
        loadBeganNs = System.nanoTime();
        load.start();
    }

    /** Sleeps until a part of the load's time has passed, 0 to 1. */
    void untilLoad(double part) throws InterruptedException {
        long atNs = loadBeganNs + (long) (settings.lasts().toNanos() * part);
        long restNs = atNs - System.nanoTime();
        if (restNs > 0) {
            Thread.sleep(restNs / 1_000_000);
        }
    }

    /** Whether a part of the load's time has passed, 0 to 1. */
    boolean isPast(double part) {
        return System.nanoTime() - loadBeganNs > (long) (settings.lasts().toNanos() * part);
    }

    /** Sleeps until a moment that the dice choose between two parts of the load's time. */
    void untilLoadBetween(double from, double to) throws InterruptedException {
        untilLoad(from + (to - from) * random.nextDouble());
    }

    /**
     * Waits until each shard has taken a job since now, and returns the longest time, ms, in which one of them took none
     * since this was last called.
     */
    double takeStallMs() throws InterruptedException {
        long nowNs = System.nanoTime();
        await("every shard to take jobs", START_LIMIT, () -> load.eachStoredSince(nowNs));
        return load.takeLongestGapNs() / 1e6;
    }

    /** Mends whatever may be broken: processes go on, links pass, Redis runs. */
    void heal() throws IOException, InterruptedException {
        links.values().forEach(LinkProxy::pass);
        links.values().forEach(LinkProxy::resetSilent);
        for (WorkerProcess worker : List.copyOf(halted)) {
            resume(worker);
        }
        for (WorkerProcess worker : fleet.workers()) {
            HoldPoint.release(workDir, worker.name());
        }
        servers().stream().filter(server -> !server.isAlive()).forEach(RedisServer::restart);
    }

    /** Waits for a condition. */
    void await(String what, Duration limit, BooleanSupplier condition) throws InterruptedException {
        long deadlineNs = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException("waited " + limit + " for " + what + " in vain; " + states());
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private String states() {
        List<String> states = new ArrayList<>();
        for (WorkerProcess worker : fleet.workers()) {
            states.add(worker.name() + " " + fleet.state(worker) + " " + worker.status());
        }
        return String.join(", ", states);
    }

    /** Notes what was done, in the ledger and for the report. */
    void event(String who, String what, String detail) {
        long nowUs = clock.nowUs();
        ledger.append(new NodeEvent(who, what, detail, nowUs));
        double seconds = loadBeganNs == 0 ? 0 : (System.nanoTime() - loadBeganNs) / 1e9;
        events.add(String.format(java.util.Locale.ROOT, "%.1f s %s %s %s", seconds, who, what, detail)
                .trim());
    }

    /** Appends to the harness's own ledger. */
    LedgerWriter ledger() {
        return ledger;
    }

    /** Copies ledger and logs to where they survive. Returns the directory. */
    Path keepEvidence() throws IOException {
        Path kept = Files.createTempDirectory("minutehand-fault-failed-");
        try (Stream<Path> files = Files.list(workDir)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, kept.resolve(file.getFileName()));
            }
        }
        for (RedisServer server : servers()) {
            Path log = server.directory().resolve("redis.log");
            if (Files.exists(log)) {
                Files.copy(log, kept.resolve("redis-" + server.port() + ".log"));
            }
        }
        return kept;
    }

    @Override
    public void close() throws IOException {
        try {
            load.close();
        } finally {
            clock.close();
            ledger.close();
            // Its processes end with it.
            home.close();
            links.values().forEach(LinkProxy::close);
            redis.close();
        }
    }
}
