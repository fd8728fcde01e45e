/** The demo: three topics on several worker processes, watched live and judged by the external ledger. */
@NullMarked
package io.minutehand.loadtest.demo;

import org.jspecify.annotations.NullMarked;
