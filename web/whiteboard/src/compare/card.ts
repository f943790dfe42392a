/** One side of the comparison of transports: a board, its numbers and a chart of them. */

import type { TransportName } from "groupwire";
import { make } from "../../../common/ui/dom";
import type { Obstacle } from "./obstacle";
import type { Position, Source } from "./source";
import type { PointerMessage } from "./sessions";
import { PEAKS, Spark } from "./spark";
import { STALL, Timeline, type Made, type Numbers } from "./timeline";
import { BoardView } from "./view";

export interface CardOptions {
  readonly transport: TransportName;
  readonly title: string;
  readonly subtitle: string;
  readonly source: Source;
  readonly made: Made;
}

const CELLS = [
  ["p99", "worst 1 % of the time", "ms behind"],
  ["median", "half of the time", "ms behind"],
  ["rate", "positions", "per second"],
  ["stalls", `stops over ${STALL} ms`, ""],
] as const;

export class Card {
  readonly element = make("section", "compare-side");
  readonly timeline: Timeline;
  private readonly view: BoardView;
  private readonly spark = new Spark();
  private readonly cells = new Map<string, HTMLElement>();
  private readonly state = make("span", "compare-state");
  private readonly notice = make("div", "compare-notice");
  private newest: PointerMessage | undefined;
  private arrivedAt = 0;

  constructor(private readonly options: CardOptions) {
    const { transport, title, subtitle, source, made } = options;
    this.timeline = new Timeline(made);
    this.element.dataset.transport = this.element.dataset.testid = transport;
    this.element.ariaLabel = title;
    this.view = new BoardView((x, y) => source.move(x, y, performance.now()));
    const head = make("div", "compare-side-head");
    head.append(make("h2", "", title), this.state, make("span", "compare-subtitle", subtitle));
    const board = make("div", "compare-board");
    this.notice.hidden = true;
    this.notice.dataset.testid = `${transport}-notice`;
    board.append(this.view.canvas, this.notice);
    const numbers = make("dl", "compare-numbers");
    numbers.append(...CELLS.map(([key, label, unit]) => this.cell(key, label, unit)));
    this.element.append(head, board, numbers, this.spark.element);
  }

  /** The newest position that has arrived. */
  get shown(): PointerMessage | undefined {
    return this.newest;
  }

  receive(said: PointerMessage, now: number): void {
    if (!this.timeline.arrive(now, said.time)) return;
    this.newest = said;
    this.arrivedAt = now;
    this.view.arrive(said, now);
  }

  repaint(): void {
    this.view.repaint();
  }

  draw(now: number, truth: Position): void {
    const isStalled = this.newest !== undefined && now - this.arrivedAt > STALL;
    this.element.classList.toggle("is-stalled", isStalled);
    this.view.draw(now, truth, isStalled);
  }

  show({ median, p99, arrivalsPerSecond, stalls }: Numbers, top: number): void {
    this.set("p99", milliseconds(p99));
    this.set("median", milliseconds(median));
    this.set("rate", this.newest ? arrivalsPerSecond.toFixed(0) : "–");
    this.set("stalls", this.newest ? String(stalls) : "–");
    this.spark.draw(this.timeline.peaks(PEAKS), top);
  }

  /** Shows why there is no connection; without an obstacle, shows nothing. */
  explain(obstacle: Obstacle | undefined, isConnected: boolean): void {
    const state = obstacle ? "" : isConnected ? "connected" : "connecting…";
    if (this.state.textContent !== state) this.state.textContent = state;
    this.notice.hidden = !obstacle;
    if (obstacle && this.notice.dataset.shown !== obstacle.what) {
      this.notice.dataset.shown = obstacle.what;
      this.notice.replaceChildren(make("strong", "", obstacle.what), make("p", "", obstacle.todo));
    }
  }

  private cell(key: string, label: string, unit: string): HTMLElement {
    const cell = make("div", key === "p99" ? "is-main" : "");
    const value = make("span", "compare-value", "–");
    value.dataset.testid = `${this.options.transport}-${key}`;
    this.cells.set(key, value);
    const number = make("dd", "");
    number.append(value, make("span", "compare-unit", unit));
    cell.append(number, make("dt", "", label));
    return cell;
  }

  private set(key: string, text: string): void {
    const cell = this.cells.get(key);
    if (cell && cell.textContent !== text) cell.textContent = text;
  }
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(0);
}
