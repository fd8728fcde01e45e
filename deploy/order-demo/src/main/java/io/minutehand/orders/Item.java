package io.minutehand.orders;

/** What the shop sells. */
enum Item {
    TEA("Green tea, 100 g", 690),
    MUG("Mug, blue", 1_250),
    KETTLE("Kettle, 1 l", 3_900),
    BISCUITS("Oat biscuits", 340);

    private final String title;
    private final long priceCents;

    Item(String title, long priceCents) {
        this.title = title;
        this.priceCents = priceCents;
    }

    String title() {
        return title;
    }

    long priceCents() {
        return priceCents;
    }
}
