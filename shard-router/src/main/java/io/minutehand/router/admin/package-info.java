/** The {@code admin} command: what a person asks a running cluster, and does to it. Needs picocli, which is optional, on the class path. */
@NullMarked
package io.minutehand.router.admin;

import org.jspecify.annotations.NullMarked;
