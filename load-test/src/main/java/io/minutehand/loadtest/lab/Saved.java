package io.minutehand.loadtest.lab;

/** What was measured once and is written into a file, so that a series that was interrupted goes on after it. */
interface Saved {
    /** Every setting that it was measured with: another result is its like only if they are the same. */
    String measuredWith();
}
