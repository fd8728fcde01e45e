package io.minutehand.loadtest.report;

import java.util.ArrayList;
import java.util.List;

/** A table of text: the first column to the left, all others to the right, widths by content. */
public final class Table {
    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();

    /** Starts a table with its heading. */
    public Table(String... heading) {
        rows.add(List.of(heading));
    }

    /** Adds a row with as many cells as the heading. */
    public Table row(String... cells) {
        if (cells.length != rows.get(0).size()) {
            throw new IllegalArgumentException("row of " + cells.length + " cells in a table of "
                    + rows.get(0).size() + " columns");
        }
        rows.add(List.of(cells));
        return this;
    }

    /** Returns the lines, the heading first. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String padding = " ".repeat(width(column) - row.get(column).length());
                line.append(column == 0 ? "" : GAP)
                        .append(column == 0 ? row.get(column) + padding : padding + row.get(column));
            }
            lines.add(line.toString());
        }
        return lines;
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }
}
