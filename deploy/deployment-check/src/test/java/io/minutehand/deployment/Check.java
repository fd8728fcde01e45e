package io.minutehand.deployment;

import java.util.List;

/** Looks at files of one kind. */
interface Check {
    /** What is wrong with them; empty when nothing is. A file that is missing or cannot be parsed is a problem, too. */
    List<Problem> problems(DeployFolder deploy);
}
