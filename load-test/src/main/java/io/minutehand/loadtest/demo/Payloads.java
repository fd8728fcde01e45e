package io.minutehand.loadtest.demo;

/** What the jobs of the demo carry. */
final class Payloads {
    private Payloads() {}

    /** Close this order if it is unpaid. */
    record CloseOrder(int order) {}

    /** Render this report, which takes so long. */
    record RenderReport(String report, int renderMs) {
        private static final int SHORTEST_MS = 50;
        private static final int LONGEST_MS = 300;

        static RenderReport number(int number) {
            int ms = SHORTEST_MS + (int) Math.floorMod(Dice.roll(number, 2), LONGEST_MS - SHORTEST_MS + 1L);
            return new RenderReport("sales-" + number, ms);
        }
    }

    /** Tell this receiver of an event. */
    record CallWebhook(String url, int event) {
        static CallWebhook number(int number) {
            return new CallWebhook("https://receiver.example/hooks/" + number % 100, number);
        }
    }

    /** A warm-up job. */
    record WarmUp(int number) {}
}
