package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.report.html.HtmlReport;
import io.minutehand.loadtest.report.html.HtmlReport.Chart;
import io.minutehand.loadtest.report.html.HtmlReport.Fact;
import io.minutehand.loadtest.report.html.HtmlReport.Figure;
import io.minutehand.loadtest.report.html.HtmlReport.Measured;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Puts the page of a scenario together whose figures are no curves of lateness. */
final class PageBuilder {
    private final String scenario;
    private final List<Fact> facts = new ArrayList<>();
    private final List<String> columns;
    private final List<Figure> figures = new ArrayList<>();
    private final List<Chart> charts = new ArrayList<>();

    /** @param columns of the table of figures */
    PageBuilder(String scenario, Map<String, String> machine, Map<String, String> settings, List<String> columns) {
        this.scenario = scenario;
        this.columns = columns;
        machine.forEach((name, value) -> facts.add(new Fact(name, value)));
        settings.forEach((name, value) -> facts.add(new Fact(name, value)));
    }

    /** A row of the table of figures: what is told of each column's subject, in the order of the columns. */
    <T> PageBuilder figures(String label, List<T> subjects, Function<T, String> told) {
        figures.add(new Figure(label, subjects.stream().map(told).toList(), ""));
        return this;
    }

    PageBuilder chart(Chart chart) {
        charts.add(chart);
        return this;
    }

    HtmlReport build() {
        return new HtmlReport(
                "minutehand bench " + scenario,
                facts,
                figures,
                columns.stream()
                        .map(name -> new Measured(name, List.of(), List.of(), List.of()))
                        .toList(),
                charts);
    }
}
