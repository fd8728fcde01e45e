package io.minutehand.loadtest.local;

import static io.minutehand.loadtest.local.LocalCluster.SCRIPT;
import static org.assertj.core.api.Assertions.assertThat;

import io.minutehand.loadtest.local.LocalCluster.Ended;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code deploy/local-cluster} refuses, and whom it does not kill. Nothing is started. */
class LocalClusterTest {
    @TempDir
    Path home;

    /** As of a session without Redis, curl or a JDK: only what the script itself needs is on the path, and what a test adds. */
    private Ended run(String... words) throws IOException {
        Path bin = Files.createDirectories(home.resolve("bin"));
        for (String tool :
                "awk bash cat dirname env flock grep head id ls mkdir mv paste rm sed sleep tail tr wc".split(" ")) {
            for (String place : new String[] {"/usr/bin", "/bin"}) {
                Path program = Path.of(place, tool);
                if (Files.exists(program) && Files.notExists(bin.resolve(tool))) {
                    Files.createSymbolicLink(bin.resolve(tool), program);
                }
            }
        }
        ProcessBuilder builder = new ProcessBuilder(Stream.concat(Stream.of(SCRIPT.toString()), Arrays.stream(words))
                .toList());
        builder.environment().put("PATH", bin.toString());
        builder.environment().put("XDG_STATE_HOME", home.resolve("state").toString());
        return LocalCluster.run(builder);
    }

    private void program(String name, String text) throws IOException {
        Path program = Files.createDirectories(home.resolve("bin")).resolve(name);
        Files.writeString(program, "#!/usr/bin/env bash\n" + text + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    private Path cluster(String settings) throws IOException {
        Path cluster = Files.createDirectories(home.resolve("cluster"));
        Files.writeString(cluster.resolve("local-cluster"), settings);
        return cluster;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                                                              | Which command?
            fly                                               | fly: there is no such command
            up worker-1                                       | up takes no NODE
            kill                                              | kill wants a NODE: redis-1 redis-2
            restart worker-5                                  | restart worker-5: there is no such node
            logs router-1 router-2                            | router-2: one argument too many
            up --fast                                         | --fast: there is no such option
            up --dir                                          | --dir wants a value
            up --base-port 80                                 | --base-port=80, wanted is a port of 1024 to 65476
            up --base-port=65500                              | --base-port=65500, wanted
            up --base-port 0x400                              | --base-port=0x400, wanted
            up --replicas 2                                   | each primary has one replica: 0 or 1
            up --webhook http://127.0.0.1:9000/               | wanted is TOPIC=URL
            up --webhook a=http://h/ --webhook a=http://h/    | names topic a twice
            up --netns --webhook a=http://localhost:9000/     | this machine is 10.213.77.1 for it
            up --netns --subnet 10.1                          | --subnet=10.1, wanted
            up --subnet 10.1.1                                | --subnet is for up --netns
            roll --base-port 17300                            | --base-port is an option of up alone
            status --wipe                                     | --wipe is an option of down alone
            kill worker-1 -f                                  | -f is an option of logs alone
            """)
    void shouldRefuseWrongUsage(String arguments, String message) throws Exception {
        Ended ended = run(arguments == null ? new String[0] : arguments.split(" +"));
        assertThat(ended.output()).contains(message, "deploy/local-cluster help");
        assertThat(ended.status()).isEqualTo(2);
    }

    /** It ends at the first hit, and whoever still writes into the pipe then makes it fail, now and then. */
    @Test
    void shouldNotLeaveAPipeEarly() throws IOException {
        assertThat(Files.readAllLines(SCRIPT))
                .noneMatch(line -> !line.strip().startsWith("#") && line.matches(".*\\|\\s*(grep -\\w*q|head).*"));
    }

    @Test
    void shouldTellItsCommands() throws Exception {
        assertThat(run("help").output()).contains("up ", "roll ", "cut NODE", "down --wipe", "--base-port PORT");
        assertThat(run("roll", "--help").status()).isZero();
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        assertThat(run("up").output()).contains("redis-server is missing");
        program("redis-server", "echo 'Redis server v=6.2.7 sha=00000000:0'");
        assertThat(run("up").output()).contains("redis-cli is missing");
        program("redis-cli", "exit 1");
        assertThat(run("up").output()).contains("Redis 7.0 or newer is needed", "redis-server is 6.2.7");
        program("redis-server", "echo 'Redis server v=7.0.15 sha=00000000:0'");
        assertThat(run("up").output()).contains("curl is missing");
        assertThat(run("status").output()).contains("There is no cluster in " + home.resolve("state"));
    }

    @Test
    void shouldSayWhichPortIsTaken() throws Exception {
        program("redis-server", "echo 'Redis server v=7.0.15 sha=00000000:0'");
        program("redis-cli", "exit 1");
        program("curl", "exit 1");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int base = taken.getLocalPort() - 21;
            Ended ended = run("up", "--base-port", Integer.toString(base));
            assertThat(ended.output()).contains("Port " + (base + 21) + " is taken, and router-1 wants it");
            assertThat(ended.status()).isEqualTo(1);
        }
    }

    @Test
    void shouldTouchNoDirectoryThatIsNotOfACluster() throws Exception {
        program("redis-server", "echo 'Redis server v=7.0.15 sha=00000000:0'");
        program("redis-cli", "exit 1");
        program("curl", "exit 1");
        Path mine = Files.createDirectories(home.resolve("mine"));
        Files.writeString(mine.resolve("letter"), "mine");
        Ended up = run("up", "--dir", mine.toString());
        assertThat(up.output()).contains("is not empty, and not of a cluster");
        Ended down = run("down", "--wipe", "--dir", mine.toString());
        assertThat(down.output()).contains("There is no cluster in " + mine);
        assertThat(up.status()).isEqualTo(1);
        assertThat(down.status()).isEqualTo(1);
        assertThat(mine.resolve("letter")).hasContent("mine");
    }

    @Test
    void shouldNotKillWhoHasTheIdOfAProcessThatIsGone() throws Exception {
        Path cluster = cluster("base_port=17300\nsubnet=\nreplicas=0\n");
        Process other = new ProcessBuilder("sleep", "60").start();
        try {
            // The id is that of a node of an earlier time.
            Files.writeString(cluster.resolve("worker-1.pid"), other.pid() + " 1\n");
            Ended kill = run("kill", "worker-1", "--dir", cluster.toString());
            assertThat(kill.output()).contains("worker-1 is down already");
            assertThat(kill.status()).isEqualTo(1);
            assertThat(run("cut", "worker-1", "--dir", cluster.toString()).output())
                    .contains("start the cluster with up --netns");
            assertThat(run("down", "--wipe", "--dir", cluster.toString()).status())
                    .isZero();
            assertThat(cluster).doesNotExist();
            assertThat(other.isAlive()).isTrue();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }
}
