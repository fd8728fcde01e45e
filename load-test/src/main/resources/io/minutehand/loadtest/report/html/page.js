"use strict";
(() => {
  /** A logarithmic axis has no zero, and nothing below is measured: what is less is drawn here. */
  const LEAST_MS = 0.01;
  /** Percentiles are spread by 1 / (1 - p): each step is a tenth of the jobs of the one before. */
  const PERCENTILE_MARKS = [50, 90, 99, 99.9, 99.99, 99.999];
  const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 2], [1, 4]];
  const COLOURS = DASHES.length;

  const byId = id => document.getElementById(id);
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

  function tell(problem) {
    byId("problem").hidden = false;
    byId("problem").append(make("span", `The charts are not as they should be: ${problem}. `));
  }
  // A resize that goes on in the next frame is called an error, and is none.
  window.addEventListener("error", event => event.message.startsWith("ResizeObserver loop") || tell(event.message));
  document.addEventListener("securitypolicyviolation", event =>
    tell(`${event.effectiveDirective} forbids ${event.blockedURI}`));

  const { systems, charts: others } = JSON.parse(byId("data").textContent);
  const charts = byId("charts");
  const logarithmic = byId("logarithmic");
  /** What is on the page: where each chart stands, how it is made, and the chart itself. */
  const drawn = [];

  /** With #drawn in the address the page tells, after drawing, what is really on each canvas: see report() below. */
  const telling = location.hash === "#drawn";
  if (telling) {
    // The library draws by paths; these count the points that it puts into them.
    const Plain = window.Path2D;
    window.Path2D = class extends Plain {
      constructor(from) {
        super(from);
        this.points = from instanceof window.Path2D ? from.points : 0;
      }
      lineTo(x, y) {
        this.points++;
        super.lineTo(x, y);
      }
      rect(x, y, width, height) {
        this.points++;
        super.rect(x, y, width, height);
      }
    };
  }

  // --- numbers -------------------------------------------------------------------------------------------------------

  const spread = percentile => -Math.log10(1 - percentile / 100);
  const unspread = x => 100 * (1 - 10 ** -x);
  const isMark = x => PERCENTILE_MARKS.find(mark => Math.abs(spread(mark) - x) < 1e-9);
  const trimmed = (value, digits) => String(Number(value.toPrecision(digits)));
  const percent = x => `${isMark(x) ?? trimmed(unspread(x), Math.max(3, 2 + Math.ceil(x)))} %`;
  const count = value => (value == null ? "–" : value.toLocaleString("en"));
  function ms(value) {
    if (value == null) {
      return "–";
    }
    return logarithmic.checked && value <= LEAST_MS ? `≤ ${LEAST_MS} ms` : `${trimmed(value, 3)} ms`;
  }
  const late = values => (logarithmic.checked ? values.map(v => (v == null ? v : Math.max(v, LEAST_MS))) : values);
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // --- a chart -------------------------------------------------------------------------------------------------------

  /** A line; its name in the legend is a button, so that the keyboard can switch it, too. */
  function line(name, colour, options) {
    const label = make("button", name);
    label.type = "button";
    const stroke = css(colour);
    return { label, stroke, width: 2, points: { size: 5, fill: stroke }, ...options };
  }

  function axis(label, options) {
    const quiet = css("--quiet");
    return { label, stroke: quiet, labelGap: 0, labelSize: 18, size: 34, grid: { stroke: css("--grid") }, ticks: { stroke: css("--grid") }, ...options };
  }

  /** Powers of ten, and between them 2 and 5 where there is room. */
  function decades(u, axisIdx, low, high) {
    const steps = Math.log10(high / low) < 3 ? [1, 2, 5] : [1];
    const marks = [];
    for (let power = Math.floor(Math.log10(low) + 1e-9); 10 ** power <= high * (1 + 1e-9); power++) {
      marks.push(...steps.map(step => Number(`${step}e${power}`)));
    }
    return marks.filter(mark => mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9));
  }

  function latenessAxis() {
    const options = { size: 60, values: (u, ys) => ys.map(y => y.toLocaleString("en", { maximumFractionDigits: 6 })) };
    return axis("lateness, ms", logarithmic.checked ? { ...options, splits: decades, filter: (u, marks) => marks } : options);
  }

  /** @param common gives the range that several charts share, or null: that of what is shown */
  function latenessScale(common) {
    const logs = logarithmic.checked;
    return {
      distr: logs ? 3 : 1,
      range: (u, min, max) => {
        const [low, high] = common() ?? [min ?? 0.1, max ?? 1];
        return logs ? uPlot.rangeLog(low, high, 10, false) : [Math.min(low, 0), 1.05 * Math.max(high, 0) || 1];
      },
    };
  }

  function sized(host) {
    return { width: Math.max(200, host.clientWidth), height: host.clientWidth < 480 ? 220 : 300 };
  }

  function steps(u, event) {
    const last = u.data[0].length - 1;
    const at = u.cursor.idx;
    return { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key];
  }

  function reachable(u, caption) {
    u.over.tabIndex = 0;
    u.over.setAttribute("role", "img");
    u.over.setAttribute("aria-label", `Chart: ${caption}. The arrow keys move through its values.`);
    u.over.addEventListener("keydown", event => {
      const to = steps(u, event);
      if (to === undefined) {
        return;
      }
      event.preventDefault();
      const idx = Math.min(Math.max(to, 0), u.data[0].length - 1);
      u.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
      u.setCursor({ left: u.valToPos(u.data[0][idx], "x"), top: u.over.clientHeight / 2 });
    });
  }

  function pressed(u) {
    u.series.slice(1).forEach(series => series.label.setAttribute("aria-pressed", String(series.show)));
  }

  function plot(entry) {
    const { data, ...options } = entry.make();
    options.series.forEach((series, i) => {
      series.show = entry.chart?.series[i].show ?? true;
    });
    entry.chart?.destroy();
    entry.chart = new uPlot(
      {
        ...sized(entry.host),
        ...options,
        cursor: { drag: { x: true, y: false, setScale: true }, ...options.cursor },
        hooks: { ready: [pressed, u => reachable(u, entry.caption)], setSeries: [pressed] },
      },
      data,
      entry.host,
    );
  }

  /** Adds a chart to a section. `kind` and `system` name it to who reads the page by a program. */
  function add(panels, kind, system, caption, makeOptions) {
    const figure = document.createElement("figure");
    const host = document.createElement("div");
    figure.append(make("figcaption", caption), host);
    panels.append(figure);
    drawn.push({ kind, system, caption, host, make: makeOptions });
  }

  function section(title) {
    const whole = document.createElement("section");
    const panels = document.createElement("div");
    panels.className = "panels";
    whole.append(make("h2", title), panels);
    charts.append(whole);
    return panels;
  }

  // --- the charts ----------------------------------------------------------------------------------------------------

  function percentileOptions(curves) {
    const tables = curves.map(({ percentiles }) => {
      const points = percentiles.percentile
        .map((percentile, i) => [spread(percentile), percentiles.ms[i]])
        .filter(([x]) => x >= spread(50) - 1e-9 && x <= spread(99.999) + 1e-9);
      return [points.map(([x]) => x), late(points.map(([, value]) => value))];
    });
    const series = curves.map(curve => {
      const i = systems.indexOf(curve) % COLOURS;
      return line(curve.name, `--line-${i}`, { dash: DASHES[i], spanGaps: true, value: (u, v) => ms(v) });
    });
    return {
      data: uPlot.join(tables),
      series: [{ label: "percentile", value: (u, v) => (v == null ? "–" : percent(v)) }, ...series],
      scales: { x: { time: false, range: () => [spread(50), spread(99.999)] }, y: latenessScale(() => null) },
      axes: [
        axis("jobs that were no later, %", { splits: () => PERCENTILE_MARKS.map(spread), values: (u, xs) => xs.map(x => String(isMark(x))) }),
        latenessAxis(),
      ],
      cursor: { drag: { x: false, y: false } },
      padding: [null, 28, null, null],
    };
  }

  /** One scale for all systems, so that their panels can be compared. */
  function commonRange(columns) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of columns.flat()) {
      if (value != null) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    return low <= high ? [low, high] : null;
  }

  const secondAxis = () => axis("time, s");
  const inSeconds = { label: "second", value: (u, v) => (v == null ? "–" : `${count(v)} s`) };
  const together = { sync: { key: "seconds", setSeries: false, scales: ["x", null] } };

  function latenessOptions(system, range) {
    const { second, p50, p99, max } = system.seconds;
    const value = (u, v) => ms(v);
    return {
      data: [second, late(max), late(p99), late(p50)],
      series: [
        inSeconds,
        line("max", "--line-3", { width: 1.5, value }),
        line("p99", "--line-1", { value }),
        line("p50", "--line-0", { value }),
      ],
      scales: { x: { time: false }, y: latenessScale(range) },
      axes: [secondAxis(), latenessAxis()],
      cursor: together,
    };
  }

  function rateOptions(system, highest) {
    const { second, scheduled, started } = system.seconds;
    const value = (u, v) => count(v);
    return {
      data: [second, scheduled, started],
      series: [
        inSeconds,
        // Wide and pale: where as many start as are scheduled, both lines are to be seen.
        line("scheduled", "--wide", { width: 5, value, points: { show: false } }),
        line("started", "--line-0", { width: 1.5, value }),
      ],
      scales: { x: { time: false }, y: { range: () => [0, 1.05 * (highest || 1)] } },
      axes: [secondAxis(), axis("jobs per second", { size: 70, values: (u, ys) => ys.map(count) })],
      cursor: together,
    };
  }

  function bucketOptions(system) {
    const sizes = system.buckets;
    return {
      data: [sizes.map((size, i) => i), sizes],
      series: [
        { label: "bucket", value: (u, v) => count(v) },
        line("jobs", "--line-0", {
          fill: css("--line-0"),
          width: 0,
          paths: uPlot.paths.bars({ size: [0.8, 60] }),
          points: { show: false },
          value: (u, v) => count(v),
        }),
      ],
      scales: { x: { time: false, range: (u, min, max) => [min - 0.7, (sizes.length > 1 ? max : min) + 0.7] }, y: { range: (u, min, max) => [0, 1.05 * (max || 1)] } },
      axes: [
        axis("bucket, in the order of minutes", { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] }),
        axis("jobs", { size: 70, values: (u, ys) => ys.map(count) }),
      ],
    };
  }

  /** From zero, so that what is flat looks flat. */
  function lineOptions({ across, unit, at, lines }) {
    const number = value => (value == null ? "–" : trimmed(value, 4));
    return {
      data: [at, ...lines.map(({ values }) => values)],
      series: [
        { label: across, value: (u, v) => number(v) },
        ...lines.map(({ name }, i) => line(name, `--line-${i % COLOURS}`, { dash: DASHES[i % COLOURS], spanGaps: true, value: (u, v) => number(v) })),
      ],
      scales: {
        x: { time: false, range: (u, min, max) => (max > min ? [min, max] : [(min ?? 0) - 1, (max ?? 0) + 1]) },
        y: { range: (u, min, max) => [Math.min(min ?? 0, 0), 1.05 * Math.max(max ?? 0, 0) || 1] },
      },
      axes: [axis(across), axis(unit, { size: 70, values: (u, ys) => ys.map(count) })],
    };
  }

  function layOut() {
    const curves = systems.filter(system => system.percentiles.ms.length > 0);
    if (curves.length > 0) {
      add(section("Lateness by percentile"), "percentiles", null, "Lateness of jobs, from the median to the latest of 100,000", () => percentileOptions(curves));
    }
    const timed = systems.filter(system => system.seconds.second.length > 0);
    if (timed.length > 0) {
      const range = () => commonRange(timed.flatMap(({ seconds }) => [seconds.p50, seconds.p99, seconds.max].map(late)));
      const highest = commonRange(timed.flatMap(({ seconds }) => [seconds.scheduled, seconds.started]))[1];
      const lateness = section("Lateness over time");
      const rates = section("Jobs per second");
      for (const system of timed) {
        add(lateness, "lateness", system.name, system.name, () => latenessOptions(system, range));
        add(rates, "rates", system.name, system.name, () => rateOptions(system, highest));
      }
    }
    const filled = systems.filter(system => system.buckets.length > 0);
    if (filled.length > 0) {
      const buckets = section("Bucket sizes");
      filled.forEach(system => add(buckets, "buckets", system.name, system.name, () => bucketOptions(system)));
    }
    const sections = new Map();
    for (const chart of others) {
      if (!sections.has(chart.section)) {
        sections.set(chart.section, section(chart.section));
      }
      add(sections.get(chart.section), "lines", chart.title, chart.title, () => lineOptions(chart));
    }
  }

  // --- what is drawn, for a test ---------------------------------------------------------------------------------------

  function rgb(colour) {
    return [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  }

  /** Pixels of a colour within the axes: the canvas is clear where nothing is drawn, so edges keep the colour of their line. */
  function pixels(u, colour) {
    const { left, top, width, height } = u.bbox;
    const { data } = u.ctx.getImageData(left, top, width, height);
    const wanted = rgb(colour);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) {
      found += data[i + 3] > 128 && wanted.every((part, k) => Math.abs(part - data[i + k]) <= 6) ? 1 : 0;
    }
    return found;
  }

  function report() {
    const lines = drawn.flatMap(({ kind, system, chart }) =>
      chart.series.slice(1).map((series, i) => ({
        kind,
        system,
        series: series.label.textContent,
        points: (series._paths?.stroke ?? series._paths?.fill)?.points ?? 0,
        pixels: pixels(chart, series.width === 0 ? series.fill(chart, i + 1) : series.stroke(chart, i + 1)),
      })));
    const out = make("pre", JSON.stringify({ width: document.documentElement.scrollWidth, window: innerWidth, lines }));
    out.id = "drawn";
    out.hidden = true;
    document.body.append(out);
  }

  charts.hidden = false;
  layOut();
  const draw = () => drawn.forEach(plot);
  draw();
  logarithmic.addEventListener("change", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const resized = new ResizeObserver(entries => {
    for (const { target } of entries) {
      const { chart } = drawn.find(entry => entry.host === target);
      const size = sized(target);
      if (size.width !== chart.width || size.height !== chart.height) {
        chart.setSize(size);
      }
    }
  });
  drawn.forEach(entry => resized.observe(entry.host));
  if (telling) {
    setTimeout(report, 500);
  }
})();
