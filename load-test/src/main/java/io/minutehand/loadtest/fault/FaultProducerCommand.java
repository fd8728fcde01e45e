package io.minutehand.loadtest.fault;

import io.minutehand.core.job.JobSpec;
import io.minutehand.loadtest.fleet.Harness;
import io.minutehand.loadtest.fleet.LogFile;
import io.minutehand.loadtest.fleet.WorkerLine;
import io.minutehand.router.JobRouter;
import io.minutehand.router.TopicHandle;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A producer in a process of its own that sends one batch after the other until it is killed. Before each it writes
 * down that it begins it; who sends them again later tells the ledger.
 */
@Command(name = "fault-producer", hidden = true, description = "A producer process of a fault run; the run starts it.")
public final class FaultProducerCommand implements Callable<Integer> {
    private static final long WORK_MS = 5;

    @Option(names = "--name", required = true)
    private String name = "";

    @Option(names = "--work-dir", required = true)
    private Path workDir = Path.of("");

    @Option(names = "--due-us", required = true)
    private long dueUs;

    @Option(names = "--link", required = true, defaultValue = "${env:" + FaultWorkerCommand.LINK_VARIABLE + "}")
    private String link = "";

    /** What the handlers of all its jobs do. */
    static Deed deed() {
        return Deed.work(WORK_MS);
    }

    /** The ids of all batches that a producer has begun to send. */
    static List<String> begun(Path workDir, String name) throws IOException {
        List<String> ids = new ArrayList<>();
        for (String batch : Files.readAllLines(file(workDir, name))) {
            for (int i = 0; i < ProducerKilled.BATCH; i++) {
                ids.add(id(name, batch, i));
            }
        }
        return ids;
    }

    private static Path file(Path workDir, String name) {
        return workDir.resolve(name + ".batches");
    }

    private static String id(String name, String batch, int i) {
        return name + "-" + batch + "-" + i;
    }

    @Override
    public Integer call() throws Exception {
        LogFile.use(workDir.resolve(name + ".log"));
        RunSettings settings = RunSettings.read(workDir);
        try (JobRouter router = JobRouter.builder()
                .redis(link)
                .namespace(Arena.NAMESPACE)
                .declare(RunSettings.TOPIC, settings.topic())
                .connect()) {
            TopicHandle<byte[]> topic = router.topic(RunSettings.TOPIC);
            for (int batch = 0; ; batch++) {
                String line = Integer.toString(batch);
                Files.writeString(
                        file(workDir, name),
                        line + "\n",
                        StandardCharsets.UTF_8,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
                List<JobSpec<byte[]>> specs = new ArrayList<>();
                for (int i = 0; i < ProducerKilled.BATCH; i++) {
                    specs.add(JobSpec.of(deed().payload())
                            .id(id(name, line, i))
                            .at(Instant.EPOCH.plus(dueUs, ChronoUnit.MICROS)));
                }
                Harness.tell(new WorkerLine.Status(name, batch, 0, Map.of()));
                topic.scheduleAll(specs).join();
            }
        }
    }
}
