/**
 * A small line chart: the last minutes of a few figures, with axes, a legend and the newest values.
 */

import { h, say } from "../shared/dom.js";
import { number } from "../inspector/words.js";
import { scale, type Figures, type Graph, type Point, type Unit } from "./figures.js";

/** The size of the plot in units of its view box, which is stretched to the width of the card. */
const WIDTH = 600;
const HEIGHT = 120;

const SVG = "http://www.w3.org/2000/svg";

export class Chart {
  readonly element = h("figure", "chart");
  private readonly top = h("span");
  private readonly middle = h("span");
  private readonly plot = document.createElementNS(SVG, "svg");
  private readonly lines: SVGPathElement[];
  private readonly cursor = document.createElementNS(SVG, "line");
  private readonly values: HTMLElement[];
  private readonly begin = h("span");
  private readonly when = h("span", "when");
  private shown: readonly (readonly Point[])[] = [];
  private pointed: number | undefined;
  private span = 60_000;

  constructor(private readonly graph: Graph) {
    const { id, title, lines, unit } = graph;
    this.element.dataset.testid = `chart-${id}`;
    this.plot.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.plot.setAttribute("preserveAspectRatio", "none");
    this.plot.setAttribute("role", "img");
    this.lines = lines.map((_, i) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", `line line-${i}`);
      return path;
    });
    this.cursor.setAttribute("class", "cursor");
    this.plot.append(...[0.5, HEIGHT / 2].map(grid), ...this.lines, this.cursor);
    this.values = lines.map(() => h("b"));
    const legend = h(
      "ul",
      "legend",
      ...lines.map(({ name }, i) => h("li", "", h("i", `swatch swatch-${i}`), `${name} `, this.values[i])),
    );
    const axis = h("div", "axis", this.top, this.middle, h("span", "", "0"));
    const time = h("div", "time", this.begin, this.when, h("span", "", "now"));
    axis.ariaHidden = "true";
    time.ariaHidden = "true";
    const heading = h("h2", "", title, h("small", "", unit === "count" ? "" : ` ${unit}`));
    this.element.append(h("figcaption", "", heading, legend), h("div", "plot", axis, this.plot), time);
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.point(undefined));
  }

  show(figures: Figures, now: number): void {
    const { graph } = this;
    this.span = figures.span(now);
    say(this.begin, `${this.span / 60_000} min ago`);
    this.shown = graph.lines.map((line) => figures.points(line));
    const most = Math.max(0, ...this.shown.flat().map(({ value }) => value ?? 0));
    const { top, ticks } = scale(most, graph.unit);
    say(this.top, label(top, graph.unit));
    say(this.middle, label(ticks[1] ?? 0, graph.unit));
    for (const [i, points] of this.shown.entries()) this.lines[i]?.setAttribute("d", path(points, now, this.span, top));
    this.showValues(now);
  }

  /** Shows the values at the pointer; without a pointer the newest. */
  private showValues(now: number): void {
    const at = this.pointed === undefined ? now : now - this.span * (1 - this.pointed);
    const said = this.shown.map((points, i) => {
      const value = nearest(points, at)?.value;
      const text = value === undefined ? "–" : label(value, this.graph.unit);
      const element = this.values[i];
      if (element) say(element, text);
      return `${this.graph.lines[i]?.name ?? ""} ${text}`;
    });
    this.plot.setAttribute("aria-label", `${this.graph.title}, ${this.graph.unit}: ${said.join(", ")}`);
    this.cursor.style.visibility = this.pointed === undefined ? "hidden" : "visible";
    const x = String((this.pointed ?? 0) * WIDTH);
    for (const [name, value] of [
      ["x1", x],
      ["x2", x],
      ["y1", "0"],
      ["y2", String(HEIGHT)],
    ] as const) {
      this.cursor.setAttribute(name, value);
    }
    const seconds = Math.round((now - at) / 1000);
    say(this.when, this.pointed === undefined ? "" : `${Math.floor(seconds / 60)} min ${seconds % 60} s ago`);
  }

  private point(event: PointerEvent | undefined): void {
    const box = this.plot.getBoundingClientRect();
    this.pointed = event && Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    this.showValues(Date.now());
  }
}

/** A figure, or a line of the axis, in words. */
export function label(value: number, unit: Unit): string {
  if (unit === "percent") return `${number(value)} %`;
  if (unit === "count") return number(Math.round(value));
  if (unit === "per second") return short(value, 1000, ["", "k", "M"]);
  return short(value, 1024, ["B", "KiB", "MiB", "GiB"]);
}

/** A number in the largest unit that leaves at least 1. */
export function short(value: number, base: number, units: readonly string[]): string {
  let at = 0;
  let rest = value;
  while (rest >= base && at < units.length - 1) {
    rest /= base;
    at++;
  }
  const digits = rest >= 100 || (at === 0 && Number.isInteger(rest)) ? 0 : 1;
  return `${rest.toFixed(digits)} ${units[at] ?? ""}`.trim();
}

function grid(y: number): SVGLineElement {
  const line = document.createElementNS(SVG, "line");
  for (const [name, value] of Object.entries({ x1: 0, x2: WIDTH, y1: y, y2: y }))
    line.setAttribute(name, String(value));
  line.setAttribute("class", "grid");
  return line;
}

function path(points: readonly Point[], now: number, span: number, top: number): string {
  let d = "";
  let isDown = false;
  for (const { at, value } of points) {
    if (value === undefined) {
      isDown = false;
      continue;
    }
    const x = WIDTH * (1 - (now - at) / span);
    const y = HEIGHT - 1 - (Math.max(value, 0) / top) * (HEIGHT - 2);
    // A line of no length begins each part, so that a single value is seen as a dot.
    const place = `${x.toFixed(1)} ${y.toFixed(1)}`;
    d += isDown ? `L${place}` : `M${place}L${place}`;
    isDown = true;
  }
  return d;
}

function nearest(points: readonly Point[], at: number): Point | undefined {
  const distance = (point: Point): number => Math.abs(point.at - at);
  return points.reduce<Point | undefined>(
    (best, one) => (best && distance(best) <= distance(one) ? best : one),
    undefined,
  );
}
