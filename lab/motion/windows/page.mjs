// The page with plots and a table of what was measured in two windows, drawn by Vega-Lite, which
// the laboratory's report uses, too.

import { draw } from "../plots.mjs";

const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } th, td { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } svg { max-width: 100%; height: auto }`;

const COLUMNS = {
  lag_ms: "lag, ms",
  error_median: "error at the lag, median, px",
  error_p95: "95 of 100, px",
  now_median: "from where it is now, median, px",
  now_p95: "95 of 100, px",
  jumps_per_min: "jumps per minute",
  stops_per_min: "stops per minute",
  gap_ms: "longest gap, ms",
  frames: "frames",
};

/** Before and after a change of address, in ms; an excerpt of the way in the middle of a scene. */
const [BEFORE, AFTER, EXCERPT] = [700, 1800, 3000];

/** One self-contained page. */
export async function page(rows, frames) {
  const parts = [table(rows)];
  for (const row of rows) {
    const here = frames.filter(({ scene }) => scene === row.scene);
    const moves = row.moves.map(({ at_s, who }) => ({ at: at_s, who }));
    parts.push(`<h2>${row.scene}</h2>`, await draw(overTime(here, moves)));
    for (const [n, { at_s, who, gap_ms }] of row.moves.entries()) {
      const at = 1000 * at_s;
      const near = here.filter(({ at_ms }) => at_ms > at - BEFORE && at_ms < at + AFTER);
      const title = `Change ${n + 1}: the ${who}'s address, longest gap ${gap_ms} ms`;
      parts.push(await draw({ ...overTime(near, [moves[n]]), title, width: 420, height: 160 }));
    }
    const middle = here[Math.floor(here.length / 2)]?.at_ms ?? 0;
    const excerpt = here.filter(({ at_ms }) => at_ms >= middle && at_ms < middle + EXCERPT);
    parts.push(await draw(ways(excerpt)));
  }
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Two windows</title><style>${STYLE}</style>
<h1>A pointer in the whiteboard, shown in another window</h1>
<p>${lead(rows[0])}</p>
${parts.join("\n")}</html>\n`;
}

function lead({ transport, hand, seconds, browser }) {
  return `Two windows of ${browser} on one machine, a real server, ${transport}, an emulated network; a ${hand} hand moves one pointer for
${seconds} s in each scene. In each frame the distance between where the other window shows the pointer and where it is now, and where it was
a lag before: the one with which the mean of that is least.`;
}

function overTime(frames, moves) {
  const of = (field, series) => frames.map((frame) => ({ at: frame.at_ms / 1000, px: frame[field], series }));
  return {
    title: "Distance of the shown pointer, each frame",
    width: 1000,
    height: 200,
    layer: [
      {
        data: { values: [...of("now", "from where it is now"), ...of("error", "from where it was the lag before")] },
        mark: { type: "line", strokeWidth: 1 },
        encoding: {
          x: { field: "at", type: "quantitative", title: "seconds", scale: { nice: false, zero: false } },
          y: { field: "px", type: "quantitative", title: "px" },
          color: { field: "series", type: "nominal", title: null, legend: { orient: "top", labelLimit: 400 } },
        },
      },
      {
        data: { values: moves },
        mark: { type: "rule", strokeDash: [4, 3] },
        encoding: { x: { field: "at", type: "quantitative" } },
      },
    ],
  };
}

/** The true way of the pointer and the shown one. */
function ways(frames) {
  const of = (x, y, series) => frames.map((frame) => ({ x: frame[x], y: frame[y], at: frame.at_ms, series }));
  const axis = (field) => ({
    field,
    type: "quantitative",
    scale: { zero: false, reverse: field === "y" },
    title: null,
  });
  return {
    title: `The way of the pointer, ${EXCERPT / 1000} s from the middle, a point for each frame`,
    width: 600,
    height: 400,
    data: { values: [...of("true_x", "true_y", "true"), ...of("x", "y", "shown")] },
    mark: { type: "line", point: { size: 12 }, strokeWidth: 1 },
    encoding: {
      x: axis("x"),
      y: axis("y"),
      order: { field: "at", type: "quantitative" },
      color: { field: "series", type: "nominal", title: null },
    },
  };
}

function table(rows) {
  const head = ["scene", ...Object.values(COLUMNS)].map((name) => `<th>${name}</th>`).join("");
  const body = rows.map((row) => {
    const cells = Object.keys(COLUMNS).map((name) => `<td>${row[name]}</td>`);
    return `<tr><td>${row.scene}</td>${cells.join("")}</tr>`;
  });
  return `<table><tr>${head}</tr>${body.join("\n")}</table>`;
}
