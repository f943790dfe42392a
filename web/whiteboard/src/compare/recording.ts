/**
 * Records what both boards show, one line of JSON per moment:
 * `{"time":…,"true":{x,y},"websocket":{x,y,time,behind},"webtransport":{x,y,time,behind}}`. All
 * times are milliseconds of one clock. `time` of a shown position is when it was made; `behind` is
 * its error in time: for how long a newer position has existed. While the page itself is stopped no
 * lines are written. The last line is a summary: the network (`{loss,delay}` as emulated, or
 * `"own"`), and the median and 99th percentile of each transport's errors in time.
 */

import type { Network } from "./network";
import type { Position } from "./source";
import type { PointerMessage } from "./sessions";
import { quantile } from "./timeline";

/** Milliseconds between lines on a responsive page. */
const INTERVAL = 10;

interface Shown extends PointerMessage {
  readonly behind: number;
}

export interface Moment {
  readonly time: number;
  readonly true: Position;
  readonly websocket: Shown | undefined;
  readonly webtransport: Shown | undefined;
}

/** Errors in time, in milliseconds; undefined if nothing arrived. */
export interface Errors {
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

export interface Summary {
  readonly moments: number;
  readonly network: Network;
  readonly websocket: Errors;
  readonly webtransport: Errors;
}

export interface Recording {
  readonly lines: string;
  readonly summary: Summary;
}

/** Resolves after `seconds`. `progress` is called with the seconds that are left. */
export function record(
  seconds: number,
  network: () => Network | undefined,
  look: () => Moment,
  progress: (left: number) => void,
): Promise<Recording> {
  return new Promise((resolve) => {
    const moments: Moment[] = [];
    const end = performance.now() + seconds * 1000;
    const timer = setInterval(() => {
      moments.push(look());
      const left = end - performance.now();
      progress(Math.max(Math.ceil(left / 1000), 0));
      if (left > 0) return;
      clearInterval(timer);
      // A server that has not answered emulates nothing.
      resolve(write(moments, network() ?? "own"));
    }, INTERVAL);
  });
}

export function write(moments: readonly Moment[], network: Network): Recording {
  const summary: Summary = {
    moments: moments.length,
    network,
    websocket: errors(moments.map(({ websocket }) => websocket)),
    webtransport: errors(moments.map(({ webtransport }) => webtransport)),
  };
  const lines = [...moments, { summary }].map((line) => `${JSON.stringify(line, rounded)}\n`);
  return { lines: lines.join(""), summary };
}

function errors(shown: readonly (Shown | undefined)[]): Errors {
  const behind = shown.flatMap((one) => one?.behind ?? []);
  return { p50: quantile(behind, 0.5), p99: quantile(behind, 0.99) };
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 10) / 10 : value;
}

export function download(lines: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines], { type: "application/jsonl" }));
  link.download = "compare.jsonl";
  link.click();
  // Once the download has begun it no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
