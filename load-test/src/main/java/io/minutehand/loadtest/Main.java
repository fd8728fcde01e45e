package io.minutehand.loadtest;

import io.minutehand.loadtest.demo.DemoCommand;
import io.minutehand.loadtest.demo.DemoWorkerCommand;
import io.minutehand.loadtest.fault.BenchCommand;
import io.minutehand.loadtest.fault.FaultProducerCommand;
import io.minutehand.loadtest.fault.FaultWorkerCommand;
import io.minutehand.loadtest.lab.BacklogCommand;
import io.minutehand.loadtest.lab.IdleCommand;
import io.minutehand.loadtest.lab.LabFillCommand;
import io.minutehand.loadtest.lab.LabFloodCommand;
import io.minutehand.loadtest.lab.LabProducerCommand;
import io.minutehand.loadtest.lab.LabWorkerCommand;
import io.minutehand.loadtest.lab.ProducersCommand;
import io.minutehand.loadtest.lab.RateCommand;
import io.minutehand.loadtest.lab.ScaleCommand;
import io.minutehand.loadtest.lab.SoakCommand;
import io.minutehand.loadtest.receiver.ReceiverCommand;
import io.minutehand.router.admin.AdminCommand;
import io.minutehand.router.http.RouterCommand;
import io.minutehand.worker.service.WorkerCommand;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The {@code minutehand} command. */
@Command(
        name = "minutehand",
        description = "A sharded time-bucket job scheduler on Redis.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "deploy/minutehand COMMAND --help tells the options of a command.",
            "deploy/minutehand order-demo opens a web shop on PostgreSQL; it has a jar of its own."
        })
public final class Main implements Runnable {
    /** How logs look. */
    private static final String LOG_FORMAT = "MINUTEHAND_LOG";

    private static final String LOG_CONFIGURATION = "logback.configurationFile";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    private Main() {}

    /** Runs the command and ends the process with its exit status. */
    public static void main(String[] args) {
        chooseLogs(System.getenv(LOG_FORMAT));
        LauncherWatch.begin();
        int status = ExitCode.SOFTWARE;
        try {
            status = commandLine().execute(args);
        } catch (Error e) {
            // Threads of clients would keep the process alive for ever.
            e.printStackTrace();
        }
        System.exit(status);
    }

    /** Before anything logs. A process that logs to a file has chosen already. */
    private static void chooseLogs(@Nullable String format) {
        if ("json".equals(format)) {
            if (System.getProperty(LOG_CONFIGURATION) == null) {
                System.setProperty(LOG_CONFIGURATION, "logback-json.xml");
            }
        } else if (format != null && !format.isEmpty() && !format.equals("text")) {
            System.err.println(LOG_FORMAT + "=" + format + ", allowed are text and json");
            System.exit(ExitCode.USAGE);
        }
    }

    /** Returns the command with all its subcommands. */
    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .addSubcommand("demo", new DemoCommand())
                .addSubcommand("router", new RouterCommand())
                .addSubcommand("worker", new WorkerCommand())
                .addSubcommand("receiver", new ReceiverCommand())
                .addSubcommand("bench", bench())
                .addSubcommand("admin", new AdminCommand())
                .addSubcommand("lab-worker", new LabWorkerCommand())
                .addSubcommand("lab-producer", new LabProducerCommand())
                .addSubcommand("lab-fill", new LabFillCommand())
                .addSubcommand("lab-flood", new LabFloodCommand())
                .addSubcommand("demo-worker", new DemoWorkerCommand())
                .addSubcommand("fault-producer", new FaultProducerCommand())
                .addSubcommand("fault-worker", new FaultWorkerCommand());
    }

    private static CommandLine bench() {
        return new CommandLine(new BenchCommand())
                .addSubcommand(
                        "steady",
                        described(RateCommand.steady(), "Measures lateness of jobs that are due one after the other."))
                .addSubcommand(
                        "burst",
                        described(
                                RateCommand.burst(), "Measures lateness of jobs that are all due on one millisecond."))
                .addSubcommand(
                        "hot-minute",
                        described(
                                RateCommand.hotMinute(),
                                "Measures lateness where half of all jobs are due in the first second of a minute."))
                .addSubcommand("backlog", new BacklogCommand())
                .addSubcommand("scale", new ScaleCommand())
                .addSubcommand("soak", new SoakCommand())
                .addSubcommand("idle", new IdleCommand())
                .addSubcommand("producers", new ProducersCommand());
    }

    /** One class runs them all, so no annotation can tell them apart. */
    private static CommandLine described(RateCommand command, String what) {
        CommandLine commandLine = new CommandLine(command);
        commandLine.getCommandSpec().usageMessage().description(what, "");
        return commandLine;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Which command? See below.");
    }
}
