// The page: a section for each experiment that there are rows of. What rows say becomes text, never markup.
import { ace } from "./ace.js";
import { afec } from "./afec.js";
import { cluster } from "./cluster.js";
import { contract } from "./contract.js";
import { fairness } from "./fairness.js";
import { fanout } from "./fanout.js";
import { gmc } from "./gmc.js";
import { lossless } from "./lossless.js";
import { papers } from "./papers.js";
import { OURS, isRight, newest, number, plain, unique } from "./rows.js";
import { voice } from "./voice.js";
import { web } from "./web.js";

const SECTIONS = { lossless, gmc, afec, web, ace, fanout, cluster, fairness, contract, voice };
/** What other series are compared with. */
const REFERENCES = ["never", "none"];
/** Colours of series in the style sheet, besides those of what stands out and of what everything is compared with. */
const COLOURS = 7;

/** What a section says about the rows of its experiment; undefined where there is nothing to show. */
export function section(experiment, rows, keys) {
  const right = rows.filter(isRight);
  const wrong = rows.length - right.length;
  const { title, blocks } = SECTIONS[experiment](newest(right, keys[experiment]));
  const notes = [];
  if (wrong)
    notes.push({ warning: `Left out, because what came was not what was sent: ${wrong} of ${rows.length} rows.` });
  const quick = right.filter((row) => row.quick).length;
  if (quick) notes.push({ text: `${plain(quick)} rows are of quick runs, whose figures are rough.` });
  return { title, blocks: [blocks[0], ...notes, ...blocks.slice(1)] };
}

/** The Vega-Lite specification of a chart, with the series that are shown. */
export function specification(chart, { specs, series = [], hidden = [], colour, style }) {
  const spec = structuredClone(specs[chart.spec]);
  const layers = spec.layer ?? [spec];
  for (const { encoding = {} } of [spec, ...layers]) {
    for (const axis of ["x", "y"]) {
      if (chart.axes && encoding[axis]) encoding[axis].title = chart.axes[axis];
      const isValue = encoding[axis]?.field === "value";
      // Bars that stand on each other would begin at 0, which a scale of logarithms has not.
      if (chart.scale && isValue)
        Object.assign(encoding[axis], { stack: null, scale: { ...encoding[axis].scale, type: chart.scale } });
    }
    if (encoding.color) {
      encoding.color.scale = { domain: series, range: series.map(colour) };
      encoding.color.legend = null;
    }
    if (encoding.yOffset) encoding.yOffset.sort = series;
  }
  // A line at the level of a goal or of the link, where there is one.
  for (const rule of layers.filter((layer) => layer.mark === "rule")) {
    for (const channel of Object.values(rule.encoding)) channel.datum = chart.level;
  }
  if (chart.level === undefined && spec.layer) spec.layer = layers.filter((layer) => layer.mark !== "rule");
  const field = layers[0].encoding?.color?.field;
  const values = chart.data.filter((row) => !field || !hidden.includes(row[field]));
  return { width: "container", height: 240, ...spec, data: { values }, config: style };
}

/** The numbers of a chart as a table: a line for each place on the axis of names or of x, a column for each series. */
export function numbers(chart, specs) {
  const spec = specs[chart.spec];
  const encoding = { ...spec.encoding, ...spec.layer?.[0].encoding, ...(spec.layer ? {} : spec.encoding) };
  const [place, value] = encoding.y.type === "nominal" ? [encoding.y, encoding.x] : [encoding.x, encoding.y];
  const column = (row) => (encoding.color ? row[encoding.color.field] : (value.title ?? value.field));
  const columns = unique(chart.data.map(column));
  const places = unique(chart.data.map((row) => row[place.field]));
  if (place === encoding.x) places.sort((one, other) => one - other);
  const text = (value) => (typeof value === "number" ? number(value) : (value ?? "–"));
  return {
    head: [place.title ?? place.field, ...columns],
    rows: places.map((at) => {
      const here = chart.data.filter((row) => row[place.field] === at);
      return [text(at), ...columns.map((name) => text(here.find((row) => column(row) === name)?.[value.field]))];
    }),
  };
}

/** Makes an element with attributes and children: elements, or text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== ""));
  return made;
}

/** Draws charts when they come into view, and again when the colours of the page change. */
class Charts {
  constructor(specs) {
    this.specs = specs;
    this.draws = new Map();
    this.inView = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting || this.inView.has(target)) continue;
        this.inView.add(target);
        this.draws.get(target)();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw(this.inView));
  }

  add(place, draw) {
    this.draws.set(place, draw);
    this.observer.observe(place);
  }

  redraw(places) {
    for (const place of places) if (this.inView.has(place)) this.draws.get(place)();
  }

  /** Charts side by side with one legend, whose buttons hide and show series. */
  block({ charts, series = [], hidden = [], strong = OURS, wide = false }) {
    const off = new Set(hidden);
    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const numbered = series.filter((name) => name !== strong && !REFERENCES.includes(name));
    const variable = (name) => {
      if (name === strong) return "--accent";
      return REFERENCES.includes(name) ? "--text" : `--c${numbered.indexOf(name) % COLOURS}`;
    };
    const places = [];
    const legend = element("div", { class: "legend", role: "group", "aria-label": "Shown" });
    for (const name of series.length > 1 ? series : []) {
      const key = element("span", { class: "key", style: `background: var(${variable(name)})` });
      const button = element("button", { type: "button", "aria-pressed": String(!off.has(name)) }, key, name);
      button.addEventListener("click", () => {
        if (!off.delete(name)) off.add(name);
        button.setAttribute("aria-pressed", String(!off.has(name)));
        this.redraw(places);
      });
      legend.append(button);
    }
    const figures = charts
      .filter((chart) => chart.data.length)
      .map((chart) => {
        const place = element("div", { class: "plot", role: "img", "aria-label": chart.title });
        places.push(place);
        const colour = (name) => css(variable(name));
        const draw = () => {
          const options = { specs: this.specs, series, hidden: [...off], colour, style: style(css) };
          const embedOptions = { actions: false, renderer: "svg", tooltip: { theme: "custom" } };
          vegaEmbed(place, specification(chart, options), embedOptions);
        };
        this.add(place, draw);
        const caption = chart.caption ? element("p", {}, chart.caption) : "";
        const details = element("details", {}, element("summary", {}, "Numbers"));
        details.addEventListener("toggle", () => details.append(table(numbers(chart, this.specs))), { once: true });
        return element(
          "figure",
          {},
          element("figcaption", {}, element("h4", {}, chart.title), caption),
          place,
          details,
        );
      });
    return element(
      "div",
      { class: wide ? "charts wide" : "charts" },
      legend,
      element("div", { class: "grid" }, ...figures),
    );
  }
}

/** Vega's configuration in the colours of the page. */
function style(css) {
  const [text, quiet, line] = ["--text", "--quiet", "--line"].map(css);
  const axis = { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: quiet, tickColor: quiet };
  return {
    background: null,
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { ...axis, titleFontWeight: "normal", labelLimit: 160 },
    mark: { color: css("--accent") },
    line: { strokeWidth: 2 },
    text: { color: text },
    rule: { color: css("--bad"), strokeDash: [2, 3], strokeWidth: 1.5 },
  };
}

function table({ caption, head, rows }) {
  const cell = (name, cell, attributes) => {
    const { text, note, tone, href } = typeof cell === "object" ? cell : { text: cell };
    const shown = href ? element("a", { href }, text) : text;
    return element(name, attributes, shown, note ? element("small", { class: tone || undefined }, note) : "");
  };
  const body = rows.map((row) =>
    element("tr", {}, ...row.map((one, at) => (at ? cell("td", one) : cell("th", one, { scope: "row" })))),
  );
  const heading = element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)));
  const parts = [element("thead", {}, heading), element("tbody", {}, ...body)];
  if (caption) parts.unshift(element("caption", {}, caption));
  return element("div", { class: "scroll", tabindex: "0" }, element("table", {}, ...parts));
}

/** One of several panels at a time. */
function choice(block, show) {
  const panels = block.panels.map(({ name, blocks }) =>
    element("div", { class: "panel" }, element("h3", {}, name), ...blocks.map(show)),
  );
  if (panels.length < 2) return element("div", { class: "choice" }, ...panels);
  const options = block.panels.map(({ name }, at) => element("option", { value: at }, name));
  const select = element("select", {}, ...options);
  const choose = () => panels.forEach((panel, at) => (panel.hidden = at !== Number(select.value)));
  select.addEventListener("change", choose);
  choose();
  return element(
    "div",
    { class: "choice" },
    element("label", { class: "chooser" }, `${block.choice} `, select),
    ...panels,
  );
}

function tilesOf(tiles) {
  const tile = ({ what, figure, note, tone }) =>
    element(
      "div",
      { class: `tile ${tone ?? ""}` },
      element("h4", {}, what),
      element("strong", {}, figure),
      element("p", {}, note),
    );
  return element("div", { class: "tiles" }, ...tiles.map(tile));
}

/** A verdict, by which rules it came about, and why it is not the paper's. */
function verdictOf({ verdict, lines, because, tone }) {
  const rules = lines.length ? element("small", {}, lines.join("; ")) : "";
  const why = because ? element("span", {}, ...withCode(because)) : "";
  return element("div", { class: `verdict ${tone ?? ""}` }, element("strong", {}, verdict), rules, why);
}

/** A text whose parts between backticks are code. */
const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));

function fill({ rows, keys, specs, files, warnings, registry }) {
  const charts = new Charts(specs);
  const show = (block) => {
    if (block.heading) return element("h3", { id: block.id }, block.heading);
    if (block.warning) return element("p", { class: "warning" }, block.warning);
    if (block.text) return element("p", {}, block.text);
    if (block.tiles) return tilesOf(block.tiles);
    if (block.verdict) return verdictOf(block);
    if (block.list) return element("ul", {}, ...block.list.map((text) => element("li", {}, text)));
    if (block.details) return element("details", {}, element("summary", {}, block.details), ...block.blocks.map(show));
    if (block.table) return table(block.table);
    return block.choice ? choice(block, show) : charts.block(block);
  };
  document.getElementById("lead").append(` From ${files.join(", ") || "no rows"}.`);
  for (const warning of warnings) document.querySelector("header").append(element("p", { class: "warning" }, warning));
  const published = registry ? papers(registry, Object.values(rows).flat()) : [];
  const experiments = Object.keys(SECTIONS)
    .filter((experiment) => rows[experiment])
    .map((experiment) => ({ id: experiment, label: experiment, ...section(experiment, rows[experiment], keys) }));
  for (const { id, label, title, blocks } of [...published, ...experiments]) {
    document.querySelector("nav").append(element("a", { href: `#${id}` }, label));
    const heading = element("h2", {}, element("span", {}, label), ` ${title}`);
    document.querySelector("main").append(element("section", { id }, heading, ...blocks.map(show)));
  }
}

if (globalThis.document) fill(JSON.parse(document.getElementById("data").textContent));
