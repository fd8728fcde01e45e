package io.minutehand.loadtest.demo;

/** Where a person watches the demo. For one thread. */
interface View {
    /** Says something once. */
    void say(String line);

    /** Shows how things are now; it may leave that out if it has just shown something. */
    void show(Snapshot snapshot);

    /** Stops showing and leaves the terminal as it was. Calling it again does nothing; safe from any thread. */
    void end();
}
