/** What a person does with a running cluster: look, audit and mend it, and act on single jobs and dead letters. */
@NullMarked
package io.minutehand.core.admin;

import org.jspecify.annotations.NullMarked;
