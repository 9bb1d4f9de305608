// The plots: numbers from the API, drawn with uPlot, and in a table below each plot.
"use strict";

(async () => {
  const place = document.getElementById("plots");
  const slice = new URLSearchParams(place.dataset.slice);
  const width = place.dataset.stepWidth;

  async function get(path, query) {
    const asked = new URLSearchParams(query);
    for (const [name, value] of slice) if (value && !(path === "series" && name === "stratum")) asked.set(name, value);
    if (query.by === "window") asked.delete("run");
    const reply = await fetch(`${place.dataset.root}/v1/audit/${path}?${asked}`);
    if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
    return reply.json();
  }

  const of = (part, whole) => (whole ? part / whole : null);
  const sum = (numbers) => Object.values(numbers).reduce((total, one) => total + one, 0);

  // Each gives the x values, and lines [name, values] or bands [name, values, lower, upper].
  function rates(items, x) {
    const line = (name, title) => [
      title,
      ...["estimate", "lower", "upper"].map((field) => items.map((item) => {
        const rate = item.rates[name];
        return rate.reason ? null : rate[field];
      })),
    ];
    return { x: items.map(x), lines: [line("fdr", "FDR, wrong among accepts"), line("for", "FOR, right among rejects")] };
  }
  function shares(points, names, value, all) {
    return {
      x: points.map((point) => point.at),
      lines: names.map((name) => [name.replaceAll("_", " "), points.map((point) => of(value(point, name), all(point)))]),
    };
  }
  const judged = (point) => point.accepted + point.rejected;
  const everything = (point) => judged(point) + sum(point.unscorable);
  const words = (points, field) => [...new Set(points.flatMap((point) => Object.keys(point[field])))].sort();

  function verdicts(points) {
    const plot = shares(points, ["accepted"], (point) => point.accepted, judged);
    plot.lines.push(["null rewards", points.map((point) => of(sum(point.unscorable), everything(point)))]);
    return plot;
  }
  function seconds(points) {
    const having = (point) => sum(point.second) - (point.second.unknown ?? 0);
    return {
      x: points.map((point) => point.at),
      lines: [
        ["rejects an accept", points.map((point) => of(point.second.rejects ?? 0, having(point)))],
        ["accepts a reject", points.map((point) => of(point.second.accepts ?? 0, having(point)))],
      ],
    };
  }

  const COLOURS = ["--plot-1", "--plot-2", "--plot-3", "--plot-4", "--plot-5", "--plot-6"];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const percent = (value) => (value == null ? "–" : `${(100 * value).toFixed(value && value < 0.01 ? 2 : 1)} %`);

  const drawn = new Map();
  function show(name, plot, { time, format = percent, bars = false }) {
    const figure = document.querySelector(`[data-plot="${name}"]`);
    const canvas = figure.querySelector(".canvas");
    const lines = plot.lines.filter(([, values]) => values.some((value) => value != null));
    if (!plot.x.length || !lines.length) {
      canvas.replaceChildren();
      const note = document.createElement("p");
      note.className = "none";
      note.textContent = name.startsWith("rates") ? "Not enough labels for a rate yet." : "Nothing to draw yet.";
      canvas.append(note);
      return;
    }
    const draw = () => {
      drawn.get(name)?.destroy();
      canvas.replaceChildren();
      drawn.set(name, new uPlot(options(plot.x, lines, { time, format, bars }, canvas), data(plot.x, lines), canvas));
    };
    draw();
    redraws.push(draw);
    table(figure, plot.x, lines, time, format);
  }
  const redraws = [];

  function data(x, lines) {
    return [x, ...lines.flatMap(([, values, lower, upper]) => (lower ? [values, lower, upper] : [values]))];
  }

  function options(x, lines, { time, format, bars }, canvas) {
    const ink = colour("--dim");
    const line = colour("--line");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
    const series = [{ label: time ? "UTC" : "step", value: time ? "{YYYY}-{MM}-{DD} {HH}:{mm}" : (_, v) => v ?? "–" }];
    const bands = [];
    lines.forEach(([label, , lower], index) => {
      const stroke = colour(COLOURS[index % COLOURS.length]);
      series.push({
        label, stroke, width: 2, spanGaps: false, points: { show: x.length < 60, size: 6, fill: stroke },
        value: (_, value) => format(value),
        ...(bars ? { paths: uPlot.paths.bars({ size: [0.6, 40] }), fill: stroke, points: { show: false } } : {}),
      });
      if (lower) {
        const first = series.length;
        const edge = { stroke: stroke + "66", width: 1, points: { show: false }, value: (_, value) => format(value) };
        series.push({ ...edge, label: "from" }, { ...edge, label: "to" });
        bands.push({ series: [first + 1, first], fill: stroke + "26" });
      }
    });
    const spread = x.length === 1 ? [x[0] - (time ? 3600 : 1), x[0] + (time ? 3600 : 1)] : null;
    return {
      width: Math.max(260, canvas.clientWidth), height: 230, series, bands,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
      scales: {
        x: { time, ...(spread ? { range: () => spread } : {}) },
        y: { range: (_, low, high) => [0, Math.max(high ?? 0, format === percent ? 0.01 : 1) * 1.08] },
      },
      axes: [{ ...axis }, { ...axis, size: 58, values: (_, ticks) => ticks.map((tick) => (format === percent ? `${+(100 * tick).toFixed(2)} %` : tick)) }],
      legend: { live: true },
      cursor: { drag: { x: false, y: false } },
    };
  }

  function table(figure, x, lines, time, format) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "Numbers";
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    const body = document.createElement("table");
    const row = (cells, tag) => {
      const line = document.createElement("tr");
      for (const text of cells) {
        const cell = document.createElement(tag);
        cell.textContent = text;
        line.append(cell);
      }
      return line;
    };
    body.createTHead().append(row([time ? "UTC" : "step", ...lines.map(([label]) => label)], "th"));
    const rows = body.createTBody();
    x.forEach((at, index) => rows.append(row([
      time ? new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ") : at,
      ...lines.map(([, values, lower, upper]) => format(values[index])
        + (lower && values[index] != null ? ` (${format(lower[index])} – ${format(upper[index])})` : "")),
    ], "td")));
    scroll.append(body);
    details.append(summary, scroll);
    figure.append(details);
  }

  const PLOTS = [
    async () => {
      const items = JSON.parse(document.getElementById("rates-over-time").textContent);
      show("rates-window", rates(items, (item) => item.at), { time: true });
    },
    async () => {
      const { items } = await get("estimates", { by: "step", step_width: place.dataset.rateStepWidth });
      show("rates-step", rates(items.filter((item) => item.step_min != null), (item) => item.step_min), { time: false });
    },
    async () => {
      const { items } = await get("series", { by: "window" });
      show("verdicts-window", verdicts(items), { time: true });
      show("second-window", seconds(items), { time: true });
      const whole = (value) => (value == null ? "–" : String(Math.round(value)));
      const sent = items.filter((point) => point.canaries);
      show("canaries-window", {
        x: sent.map((point) => point.at),
        lines: [["judged", sent.map((point) => point.canaries)], ["accepted", sent.map((point) => point.canary_accepts)]],
      }, { time: true, format: whole });
    },
    async () => {
      const { items } = await get("series", { by: "step", step_width: width });
      show("flags-step", shares(items, words(items, "flags"), (point, flag) => point.flags[flag] ?? 0, everything), { time: false });
    },
  ];
  const results = await Promise.allSettled(PLOTS.map((plot) => plot()));
  for (const result of results) if (result.status === "rejected") console.error(result.reason);
  place.dataset.drawn = String(results.filter((result) => result.status === "fulfilled").length);

  const redrawAll = () => redraws.forEach((draw) => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  let last = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== last) { last = innerWidth; redrawAll(); } });
})();
