// The page with plots and tables of the rows.

import { draw } from "./plots.mjs";

/** The plots of rows: title and unit of each field. */
const PLOTS = {
  error_mean: ["Mean error at the method's own lag", "px"],
  error_p95: ["Error that 95 of 100 frames keep, at the method's own lag", "px"],
  lag_ms: ["Lag", "ms"],
  now_mean: ["Mean distance from where the pointer is now", "px"],
  jumps_per_min: ["Jumps per minute of movement", ""],
  stops_per_min: ["Stops per minute of movement", ""],
  bytes_per_s: ["Payload sent", "bytes per second"],
};

const COLUMNS = [...Object.keys(PLOTS), "now_p95", "messages"];

const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } svg { max-width: 100%; height: auto }`;

/** One self-contained page. */
export async function page(rows, series) {
  const parts = [];
  for (const transport of unique(rows, "transport")) {
    const ours = rows.filter((row) => row.transport === transport);
    parts.push(`<h2>${transport}</h2>`);
    for (const [field, [title, unit]] of Object.entries(PLOTS)) parts.push(await draw(bars(ours, field, title, unit)));
    const over = series.filter((row) => row.transport === transport && row.loss !== "rand0");
    parts.push(await draw(overTime(over)), table(ours));
  }
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Motion</title><style>${STYLE}</style>
<h1>Somebody else's pointer, by method</h1>
<p>${lead(rows[0])}</p>
${parts.join("\n")}</html>\n`;
}

function lead({ recordings, seconds }) {
  return `${recordings} recorded pointers of ${seconds} s each, at most 25 messages a second, 40 to 60 ms one way. Only frames around
movements count. A method's lag is the one with which its mean error is least. A jump is a frame that moves half as far again, and 8 px
more, than any true frame around it; a stop is a frame without movement while the pointer moves.`;
}

function bars(rows, field, title, unit) {
  return {
    title,
    data: { values: rows },
    width: { step: 14 },
    height: 160,
    mark: "bar",
    encoding: {
      column: { field: "loss", type: "nominal", sort: unique(rows, "loss"), title: null },
      x: {
        field: "method",
        type: "nominal",
        sort: unique(rows, "method"),
        axis: { labels: false, ticks: false },
        title: null,
      },
      y: { field, type: "quantitative", title: unit },
      color: { field: "method", type: "nominal", sort: unique(rows, "method") },
    },
  };
}

function overTime(rows) {
  return {
    title: "Error over time, one recording, means of seconds",
    data: { values: rows },
    width: 800,
    height: 140,
    mark: "line",
    encoding: {
      row: { field: "loss", type: "nominal", sort: unique(rows, "loss"), title: null },
      x: { field: "second", type: "quantitative", title: "seconds" },
      y: { field: "error", type: "quantitative", title: "px", scale: { type: "symlog" } },
      color: { field: "method", type: "nominal", sort: unique(rows, "method") },
    },
  };
}

function table(rows) {
  const head = ["method", "loss", ...COLUMNS].map((name) => `<th>${name}</th>`).join("");
  const body = rows.map((row) => {
    const cells = COLUMNS.map((name) => `<td>${row[name]}</td>`).join("");
    return `<tr><td>${row.method}</td><td>${row.loss}</td>${cells}</tr>`;
  });
  return `<table><tr>${head}</tr>${body.join("\n")}</table>`;
}

function unique(rows, field) {
  return [...new Set(rows.map((row) => row[field]))];
}
