/** A chart of a board's errors in time over the last 20 s. Both boards use the same scale. */

import { STALL } from "./timeline";

const COUNT = 200;
const HEIGHT = 40;

/** The steps (ms) in which the scale grows, so that it does not change all the time. */
const TOPS = [150, 300, 600, 1200, 2500, 5000, 10_000] as const;

export class Spark {
  readonly element = document.createElement("div");
  private readonly svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private readonly top = document.createElement("span");

  constructor() {
    this.element.className = "compare-spark";
    this.svg.setAttribute("viewBox", `0 0 ${COUNT - 1} ${HEIGHT}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.ariaHidden = "true";
    this.top.className = "compare-scale";
    const name = document.createElement("span");
    name.className = "compare-scale is-name";
    name.textContent = "behind, last 20 s";
    this.element.append(this.svg, name, this.top);
  }

  draw(peaks: readonly (number | undefined)[], top: number): void {
    const y = (age: number): string => (HEIGHT - (Math.min(age, top) / top) * (HEIGHT - 2)).toFixed(2);
    const points = peaks.flatMap((age, x) => (age === undefined ? [] : [`${x} ${y(age)}`]));
    const first = peaks.findIndex((age) => age !== undefined);
    const line = points.length > 1 ? `M${points.join("L")}` : "";
    const area = line && `${line}L${COUNT - 1} ${HEIGHT}L${first} ${HEIGHT}Z`;
    const limit = y(STALL);
    this.svg.innerHTML =
      `<path class="area" d="${area}"/><path class="limit" d="M0 ${limit}H${COUNT - 1}"/>` +
      `<path class="line" d="${line}"/>`;
    const label = top < 1000 ? `${top} ms` : `${top / 1000} s`;
    if (this.top.textContent !== label) this.top.textContent = label;
  }
}

export const PEAKS = COUNT;

/** The scale that fits all series. */
export function topFor(...series: readonly (readonly (number | undefined)[])[]): number {
  const most = Math.max(0, ...series.flat().map((age) => age ?? 0));
  return TOPS.find((top) => most <= top) ?? (TOPS.at(-1) as number);
}
