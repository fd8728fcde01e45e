/** A report as one HTML file with charts, which opens without a network. */
@NullMarked
package io.minutehand.loadtest.report.html;

import org.jspecify.annotations.NullMarked;
