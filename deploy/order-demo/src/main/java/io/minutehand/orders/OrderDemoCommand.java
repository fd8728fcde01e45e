package io.minutehand.orders;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.minutehand.core.service.StopSignal;
import io.minutehand.core.store.StoreException;
import io.minutehand.orders.Trouble.NotPossibleException;
import io.minutehand.postgres.PostgresInstance;
import io.minutehand.postgres.PostgresSource;
import io.minutehand.redis.RedisInstance;
import io.minutehand.redis.RedisSettings;
import io.minutehand.redis.RedisSource;
import io.minutehand.source.PrivateDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code order-demo} command: its options, checked, and the demo. */
@Command(
        name = "order-demo",
        description = {
            "A web shop on PostgreSQL: orders that nobody pays in time are closed by jobs, whatever breaks.",
            "Without --orders it serves a page until it is stopped; with --orders it runs by itself and prints the balance.",
            "It takes PostgreSQL of --db, else of the PATH, else one that it brings along; Redis likewise. What it makes there is deleted at the end.",
            ""
        },
        mixinStandardHelpOptions = true,
        versionProvider = OrderDemoCommand.Version.class,
        sortOptions = false,
        usageHelpWidth = 100,
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:the balance holds",
            "1:it does not, or something did not start; the last lines say what",
            "2:the options are wrong",
            "130, 143:stopped by a signal, in good order"
        })
public final class OrderDemoCommand implements Callable<Integer> {
    private static final int MOST_ORDERS = 1_000_000;
    private static final int HIGHEST_PORT = 65_535;
    private static final Duration SHORTEST_DELAY = Duration.ofSeconds(1);
    private static final Duration LONGEST_DELAY = Duration.ofHours(1);

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    @Option(
            names = "--db",
            paramLabel = "URL",
            description =
                    "Use this PostgreSQL (12 or newer), jdbc:postgresql://host:port/database, in a schema of its own.")
    private @Nullable String db;

    @Option(names = "--db-user", paramLabel = "NAME", description = "User of --db.")
    private @Nullable String dbUser;

    @Option(
            names = "--db-password-file",
            paramLabel = "FILE",
            description =
                    "Its first line is the password of --db (else the environment variable MINUTEHAND_DB_PASSWORD).")
    private @Nullable Path dbPasswordFile;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:MINUTEHAND_REDIS}",
            showDefaultValue = Visibility.NEVER,
            description = "Use this single Redis, redis://[user:password@]host:port, in a namespace of its own"
                    + " (environment MINUTEHAND_REDIS). It is neither stopped nor emptied.")
    private @Nullable String redis;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Of the page, on 127.0.0.1; 0 = any free one (default 8081).")
    private @Nullable Integer port;

    @Option(
            names = "--delay",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "From an order to its close, 1s to 60m (default 20s).")
    private Duration delay = Duration.ofSeconds(20);

    @Option(
            names = "--scan",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "From one look of the reconciler at all open orders to the next, 500ms to 10m (default 5s).")
    private Duration scan = Duration.ofSeconds(5);

    @Option(names = "--workers", paramLabel = "N", description = "Worker processes, 1 to 8 (default ${DEFAULT-VALUE}).")
    private int workers = 2;

    @Option(
            names = "--orders",
            paramLabel = "N",
            description = "No page: create so many orders, 1 to 1,000,000, wait for their end, print the balance.")
    private @Nullable Integer orders;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "With --orders: orders created in a second, 1 to 5,000 (default 400).")
    private @Nullable Double rate;

    @Option(
            names = "--pay-share",
            paramLabel = "SHARE",
            description = "With --orders: how many of them are paid, 0 to 1 (default 0.5), each at a random moment"
                    + " up to 5 ms before or after its time.")
    private @Nullable Double payShare;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "With --orders: which are paid, and when (default random; it is printed).")
    private @Nullable Long seed;

    @Option(
            names = "--kill-worker",
            description = "With --orders: when half of them are due, kill -9 the busiest worker.")
    private boolean killWorker;

    @Option(
            names = "--stop-redis",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "With --orders: when half of them are due, kill -9 Redis, and start it again, empty, so long"
                    + " after, 1s to 60s.")
    private @Nullable Duration stopRedis;

    @Option(names = "--flush", description = "With --orders: when half of them are due, FLUSHALL.")
    private boolean flush;

    @Option(names = "--json", paramLabel = "FILE", description = "With --orders: write the balance as JSON, too.")
    private @Nullable Path json;

    /** The version in the jar's manifest. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Version.class.getPackage().getImplementationVersion();
            return new String[] {"minutehand " + (version == null ? "(development)" : version)};
        }
    }

    /** Runs the command and ends the process with its exit status. */
    public static void main(String[] args) {
        int status = ExitCode.SOFTWARE;
        try {
            status = commandLine().execute(args);
        } catch (Error e) {
            // Threads of clients would keep the process alive for ever.
            e.printStackTrace();
        }
        System.exit(status);
    }

    static CommandLine commandLine() {
        return new CommandLine(new OrderDemoCommand());
    }

    @Override
    public Integer call() {
        OrderRun.@Nullable Plan plan = plan();
        String url = databaseUrl();
        try (StopSignal signal = StopSignal.listen();
                PrivateDirectory home = PrivateDirectory.create("orders")) {
            LogFile.use(home.path().resolve("demo.log"));
            Thread runner = Thread.currentThread();
            Thread ender = new Thread(() -> interruptAtSignal(signal, runner), "ender");
            ender.setDaemon(true);
            ender.start();
            return demo(plan, url, home);
        }
    }

    /** What is under way ends where it waits; what was opened is closed on the way out. */
    private static void interruptAtSignal(StopSignal signal, Thread runner) {
        try {
            signal.await();
            runner.interrupt();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int demo(OrderRun.@Nullable Plan plan, @Nullable String url, PrivateDirectory home) {
        try (PostgresInstance postgres = PostgresSource.forDemo(url).open();
                RedisInstance server = RedisSource.forDemo(redisAddress()).open(RedisSettings.defaults())) {
            say("PostgreSQL: " + postgres.describe());
            say("Redis: " + server.describe());
            say("starting " + workers + " worker" + (workers == 1 ? "" : "s"));
            try (Site site = Site.open(postgres, server, home, delay, scan, workers, this::say)) {
                return plan == null ? serve(site) : run(site, plan, home);
            }
        } catch (InterruptedException e) {
            say("stopped; what the demo had started is gone");
            return ExitCode.OK;
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        } catch (IllegalStateException
                | UncheckedIOException
                | StoreException
                | SQLException
                | IOException
                | NotPossibleException e) {
            error(String.valueOf(e.getMessage()));
            return ExitCode.SOFTWARE;
        }
    }

    private int serve(Site site) throws SQLException, InterruptedException {
        try (Shop shop = Shop.open(site, port == null ? 8081 : port)) {
            say("the shop is open at " + shop.url() + " (end with Ctrl-C)");
            Thread.currentThread().join();
        }
        return ExitCode.OK;
    }

    private int run(Site site, OrderRun.Plan plan, PrivateDirectory home)
            throws SQLException, NotPossibleException, InterruptedException, IOException {
        say(String.format(
                Locale.ROOT,
                "%,d orders at %s a second, closed after %s s, %.0f %% of them paid up to %d ms around that; seed %d",
                plan.orders(),
                plain(plan.rate()),
                plain(delay.toMillis() / 1000.0),
                plan.payShare() * 100,
                OrderRun.AROUND.toMillis(),
                plan.seed()));
        OrderRun.Result result = new OrderRun(site, plan, this::say).run();
        say("");
        say("balance of " + site.settings().namespace() + ", read from PostgreSQL "
                + site.postgres().version() + ":");
        result.balance().lines().forEach(this::say);
        say(String.format(
                Locale.ROOT,
                "answers: %,d created, %,d failed; of %,d payments %,d in time, %,d too late, %,d failed",
                result.created(),
                result.notCreated(),
                result.paid() + result.tooLate() + result.paymentsFailed(),
                result.paid(),
                result.tooLate(),
                result.paymentsFailed()));
        say(String.format(
                Locale.ROOT,
                "jobs: %,d scheduled right after the commit, %,d by the relay; the reconciler found %,d orders without one",
                result.direct(),
                result.relayed(),
                result.missing()));
        if (json != null) {
            write(json, site, result);
        }
        if (!result.passed()) {
            say("the logs are kept in " + Site.keepLogs(home));
        }
        return result.passed() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static String plain(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }

    private void write(Path file, Site site, OrderRun.Result result) throws IOException {
        Balance balance = result.balance();
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("passed", result.passed());
        report.put("postgresSource", site.postgres().kind().label());
        report.put("postgresVersion", site.postgres().version());
        report.put("redisSource", site.redis().kind().label());
        report.put("redisVersion", site.redis().version());
        report.put("orders", result.plan().orders());
        report.put("rate", result.plan().rate());
        report.put("payShare", result.plan().payShare());
        report.put("seed", result.plan().seed());
        report.put("delayMs", delay.toMillis());
        report.put("scanMs", scan.toMillis());
        report.put("workers", workers);
        report.put("tookMs", result.took().toMillis());
        report.put("created", balance.created());
        report.put("paid", balance.paid());
        report.put("closed", balance.closed());
        report.put("open", balance.open());
        report.put("graceMs", balance.grace().toMillis());
        report.put("late", balance.late());
        report.put("bothWays", balance.bothWays());
        report.put("repeated", balance.repeated());
        report.put("contradicted", balance.contradicted());
        report.put("closeP50Ms", balance.closing().p50Ms());
        report.put("closeP99Ms", balance.closing().p99Ms());
        report.put("closeMaxMs", balance.closing().maxMs());
        report.put("paymentsTooLate", result.tooLate());
        report.put("missing", result.missing());
        report.put("scheduledDirectly", result.direct());
        report.put("scheduledByRelay", result.relayed());
        Files.write(
                file,
                new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsBytes(report));
        say("report written to " + file);
    }

    /** The options of a run, checked; null for the page. */
    OrderRun.@Nullable Plan plan() {
        require(workers >= 1 && workers <= Workers.MOST, "--workers", workers, "1 to " + Workers.MOST);
        requireWithin("--delay", delay, SHORTEST_DELAY, LONGEST_DELAY);
        requireWithin("--scan", scan, Duration.ofMillis(500), Duration.ofMinutes(10));
        if (orders == null) {
            requireNoneWithoutOrders();
            require(
                    port == null || (port >= 0 && port <= HIGHEST_PORT),
                    "--port",
                    String.valueOf(port),
                    "0 to " + HIGHEST_PORT);
            return null;
        }
        require(port == null, "--port", String.valueOf(port), "left out: with --orders there is no page");
        require(orders >= 1 && orders <= MOST_ORDERS, "--orders", orders, "1 to " + MOST_ORDERS);
        double perSecond = rate == null ? 400 : rate;
        require(perSecond >= 1 && perSecond <= 5000, "--rate", perSecond, "1 to 5000");
        double share = payShare == null ? 0.5 : payShare;
        require(share >= 0 && share <= 1, "--pay-share", share, "0 to 1");
        if (stopRedis != null) {
            requireWithin("--stop-redis", stopRedis, Duration.ofSeconds(1), Duration.ofSeconds(60));
        }
        require(!(flush && stopRedis != null), "--flush", true, "left out: --stop-redis empties Redis, too");
        require(!killWorker || workers >= 2, "--workers", workers, "2 or more if one of them is killed");
        require(
                !(flush || stopRedis != null) || redisAddress() == null,
                "--redis",
                "(an address)",
                "left out with --flush and --stop-redis: the demo breaks no Redis but its own");
        requireWritable();
        return new OrderRun.Plan(
                orders, perSecond, share, seed == null ? System.nanoTime() : seed, killWorker, flush, stopRedis);
    }

    private void requireNoneWithoutOrders() {
        boolean none = rate == null
                && payShare == null
                && seed == null
                && !killWorker
                && !flush
                && stopRedis == null
                && json == null;
        if (!none) {
            throw usage(
                    "--rate, --pay-share, --seed, --kill-worker, --stop-redis, --flush and --json go with --orders N;"
                            + " the page has buttons");
        }
    }

    /** Before the run, not after it: then it would be too late for another file. */
    private void requireWritable() {
        if (json == null) {
            return;
        }
        Path place = json.toAbsolutePath();
        Path parent = place.getParent();
        boolean possible = Files.isRegularFile(place)
                ? Files.isWritable(place)
                : !Files.exists(place) && parent != null && Files.isDirectory(parent) && Files.isWritable(parent);
        require(possible, "--json", json, "a file that can be written");
    }

    private @Nullable String redisAddress() {
        return redis == null || redis.isBlank() ? null : redis;
    }

    /** The URL with user and password, which appears nowhere. */
    @Nullable
    String databaseUrl() {
        if (db == null) {
            require(dbUser == null, "--db-user", String.valueOf(dbUser), "left out without --db");
            require(
                    dbPasswordFile == null,
                    "--db-password-file",
                    String.valueOf(dbPasswordFile),
                    "left out without --db");
            return null;
        }
        StringBuilder url = new StringBuilder(db);
        if (dbUser != null) {
            url.append(url.indexOf("?") < 0 ? '?' : '&').append("user=").append(encoded(dbUser));
        }
        String password = password();
        if (password != null) {
            url.append(url.indexOf("?") < 0 ? '?' : '&').append("password=").append(encoded(password));
        }
        return url.toString();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private @Nullable String password() {
        if (dbPasswordFile == null) {
            String value = System.getenv("MINUTEHAND_DB_PASSWORD");
            return value == null || value.isEmpty() ? null : value;
        }
        try {
            return Files.readString(dbPasswordFile).lines().findFirst().orElse("");
        } catch (IOException e) {
            throw usage("--db-password-file=" + dbPasswordFile + " cannot be read: " + e);
        }
    }

    private void requireWithin(String option, Duration value, Duration least, Duration most) {
        require(
                value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
                option,
                plain(value.toMillis() / 1000.0) + "s",
                plain(least.toMillis() / 1000.0) + "s to " + plain(most.toMillis() / 1000.0) + "s");
    }

    private void require(boolean holds, String option, Object value, String allowed) {
        if (!holds) {
            throw usage(option + "=" + value + " is not allowed; it must be " + allowed);
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private synchronized void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }

    private void error(String message) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("minutehand order-demo: " + message);
        err.flush();
    }
}
