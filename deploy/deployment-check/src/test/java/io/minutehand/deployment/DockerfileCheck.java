package io.minutehand.deployment;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The Dockerfile, parsed: stages, pinned bases, a user without rights, programs in exec form (so that the JVM is process 1 and gets TERM), a health check
 * that asks the port that the services open. `.ci/run` has a linter look at it, too.
 */
final class DockerfileCheck implements Check {
    static final String FILE = "docker/Dockerfile";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> INSTRUCTIONS = Set.of(
            "FROM",
            "ARG",
            "ENV",
            "WORKDIR",
            "COPY",
            "ADD",
            "RUN",
            "USER",
            "EXPOSE",
            "STOPSIGNAL",
            "HEALTHCHECK",
            "ENTRYPOINT",
            "CMD",
            "LABEL",
            "VOLUME",
            "SHELL");
    private static final String JAR = "load-test/target/minutehand.jar";

    /** An instruction, with what follows it on its line and those that continue it. */
    record Instruction(String name, String rest) {}

    @Override
    public List<Problem> problems(DeployFolder deploy) {
        return Findings.of(FILE, findings -> look(deploy, findings));
    }

    static List<Instruction> instructions(String text) {
        List<Instruction> instructions = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String each : text.lines().toList()) {
            if (each.isBlank() || each.strip().startsWith("#")) {
                continue;
            }
            if (each.endsWith("\\")) {
                line.append(each, 0, each.length() - 1).append(' ');
                continue;
            }
            String whole = line.append(each).toString().strip();
            line.setLength(0);
            String name = whole.split("\\s+", 2)[0];
            instructions.add(
                    new Instruction(name, whole.substring(name.length()).strip()));
        }
        return instructions;
    }

    /** Those of the last stage, which is the image. */
    private static List<Instruction> image(List<Instruction> all) {
        int last = 0;
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).name().equals("FROM")) {
                last = i;
            }
        }
        return all.subList(last, all.size());
    }

    private static Optional<Instruction> last(List<Instruction> of, String name) {
        return of.stream().filter(each -> each.name().equals(name)).reduce((first, second) -> second);
    }

    /** A program in exec form, a JSON array; nothing when it is a line for a shell. */
    private static Optional<List<String>> exec(String text) {
        try {
            return Optional.of(Arrays.asList(JSON.readValue(text, String[].class)));
        } catch (JsonProcessingException shell) {
            return Optional.empty();
        }
    }

    /** What the image runs before the arguments of a service. */
    static List<String> entrypoint(DeployFolder deploy) {
        return last(image(instructions(deploy.text(FILE))), "ENTRYPOINT")
                .flatMap(entrypoint -> exec(entrypoint.rest()))
                .orElse(List.of());
    }

    private static void look(DeployFolder deploy, Findings findings) {
        List<Instruction> all = instructions(deploy.text(FILE));
        List<String> stages = new ArrayList<>();
        for (Instruction each : all) {
            findings.require(INSTRUCTIONS.contains(each.name()), each.name(), "there is no such instruction");
            if (each.name().equals("FROM")) {
                String[] from = each.rest().split("\\s+", -1);
                findings.require(
                        from[0].matches("[a-z0-9./_-]+:[0-9]+\\.[0-9]+\\.[0-9]+[A-Za-z0-9._-]*")
                                || stages.contains(from[0]),
                        "FROM",
                        "image %s is not pinned to a version: give it three numbers",
                        from[0]);
                stages.add(from.length == 3 ? from[2] : "");
            }
        }
        findings.require(stages.size() == 2, "FROM", "there are %d stages, one builds and one runs", stages.size());
        findings.require(
                all.stream()
                        .anyMatch(
                                each -> each.name().equals("RUN") && each.rest().contains("-pl load-test -am")),
                "RUN",
                "nothing builds %s",
                JAR);

        List<Instruction> image = image(all);
        List<String> copied = copies(deploy, stages, image, findings);
        String user = last(image, "USER").map(Instruction::rest).orElse("root");
        findings.require(
                user.matches("[1-9][0-9]*(:[1-9][0-9]*)?"),
                "USER",
                "%s: Kubernetes sees only of a number that it is not root",
                user);
        for (String name : List.of("ENTRYPOINT", "CMD")) {
            findings.require(
                    last(image, name).flatMap(each -> exec(each.rest())).isPresent(),
                    name,
                    "is not in exec form: a shell would be process 1, and TERM would not reach the JVM");
        }
        List<String> entrypoint = entrypoint(deploy);
        findings.require(
                !entrypoint.isEmpty() && entrypoint.get(0).equals("java"), "ENTRYPOINT", "does not run the JVM itself");
        int jar = entrypoint.indexOf("-jar") + 1;
        findings.require(
                jar > 0 && jar < entrypoint.size() && copied.contains(entrypoint.get(jar)),
                "ENTRYPOINT",
                "runs a jar that no COPY puts there: %s",
                entrypoint);
        health(image, copied, findings);
    }

    /** The places in the image that files are copied to. */
    private static List<String> copies(
            DeployFolder deploy, List<String> stages, List<Instruction> image, Findings findings) {
        List<String> copied = new ArrayList<>();
        for (Instruction each : image) {
            if (!each.name().equals("COPY")) {
                continue;
            }
            List<String> words = new ArrayList<>(Arrays.asList(each.rest().split("\\s+")));
            Optional<String> stage = words.stream()
                    .filter(word -> word.startsWith("--from="))
                    .map(word -> word.substring("--from=".length()))
                    .findFirst();
            words.removeIf(word -> word.startsWith("--"));
            String source = words.get(0);
            copied.add(words.get(words.size() - 1));
            if (stage.isPresent()) {
                findings.require(stages.contains(stage.get()), "COPY", "there is no stage %s", stage.get());
                findings.require(source.endsWith("/" + JAR), "COPY", "%s is not what the build makes: %s", source, JAR);
            } else {
                findings.require(
                        deploy.has(source.replaceFirst("^deploy/", "")), "COPY", "there is no file %s", source);
            }
        }
        return copied;
    }

    private static void health(List<Instruction> image, List<String> copied, Findings findings) {
        String check = last(image, "HEALTHCHECK").map(Instruction::rest).orElse("");
        int command = check.indexOf("CMD ");
        Optional<List<String>> exec = command < 0 ? Optional.empty() : exec(check.substring(command + "CMD ".length()));
        if (exec.isEmpty()) {
            findings.add("HEALTHCHECK", "there is none in exec form");
            return;
        }
        findings.require(
                copied.contains(exec.get().get(0)),
                "HEALTHCHECK",
                "%s is not in the image",
                exec.get().get(0));
        String exposed = last(image, "EXPOSE").map(Instruction::rest).orElse("");
        String port = exec.get().get(exec.get().size() - 1);
        findings.require(
                Arrays.asList(exposed.split("\\s+")).contains(port),
                "HEALTHCHECK",
                String.format(Locale.ROOT, "asks port %s, which is not exposed: %s", port, exposed));
    }

    /** The port that the health check of the image asks: where services run in it, their admin port. */
    static int healthPort(DeployFolder deploy) {
        String check = last(image(instructions(deploy.text(FILE))), "HEALTHCHECK")
                .map(Instruction::rest)
                .orElse("");
        return Integer.parseInt(check.replaceAll("^.*\"(\\d+)\"].*$", "$1"));
    }
}
