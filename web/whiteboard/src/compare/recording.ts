/**
 * With `record=SECONDS` in the address what both boards show is written down, a line of JSON for each moment:
 * `{"time":…,"true":{x,y},"websocket":{x,y,time,behind},"webtransport":{x,y,time,behind}}`. All times are milliseconds of
 * one clock. The `time` of a shown position is when it was made, `behind` is its error in time: for how long there has been
 * a newer one. While the page itself stands still there are no lines.
 */

import type { Position } from "./source";
import type { Said } from "./sessions";

/** Milliseconds from line to line, on a page that keeps up. */
const INTERVAL = 10;

interface Shown extends Said {
  readonly behind: number;
}

export interface Moment {
  readonly time: number;
  readonly true: Position;
  readonly websocket: Shown | undefined;
  readonly webtransport: Shown | undefined;
}

/** Resolves with the lines. */
export function record(seconds: number, look: () => Moment): Promise<string> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    const end = performance.now() + seconds * 1000;
    const timer = setInterval(() => {
      lines.push(`${JSON.stringify(look(), rounded)}\n`);
      if (performance.now() < end) return;
      clearInterval(timer);
      resolve(lines.join(""));
    }, INTERVAL);
  });
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 10) / 10 : value;
}

export function download(lines: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines], { type: "application/jsonl" }));
  link.download = "compare.jsonl";
  link.click();
  // The download has its own hold on the data once it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
