/** The report of a run: one JSON form for all scenarios, its verdict, and tables for people. */
@NullMarked
package io.minutehand.loadtest.report;

import org.jspecify.annotations.NullMarked;
