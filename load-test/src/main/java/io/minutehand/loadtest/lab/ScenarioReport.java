package io.minutehand.loadtest.lab;

import io.minutehand.loadtest.report.html.HtmlReport;
import java.util.List;

/** What a scenario found; as JSON it is what its components are. */
interface ScenarioReport {
    /** For a terminal. */
    List<String> lines();

    /** For a browser. */
    HtmlReport page();

    /** 0 unless something is wrong: with the product, or with what a scenario promises to show. */
    int exitStatus();
}
