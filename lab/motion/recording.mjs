// Recorded pointers.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Between two events that are further apart (ms) the pointer rested at the first one. */
const REST = 50;

/** The step (ms) of the table of places. */
const STEP = 4;

/**
 * `count` recordings of a folder in the order of their names, after `skip` others, each cut to
 * `seconds`.
 */
export function recordingsIn(folder, { skip, count, seconds }) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.csv(\.gz)?$/.test(name));
  return names
    .sort()
    .slice(skip, skip + count)
    .map((name) => {
      const file = readFileSync(join(folder, name));
      return new Recording(parse((name.endsWith(".gz") ? gunzipSync(file) : file).toString()), seconds);
    });
}

/** Events `{ time, x, y }` from the lines of a table. */
export function parse(text) {
  const events = [];
  for (const line of text.split("\n").slice(1)) {
    const [time, , , x, y] = line.split(",");
    if (y === undefined || ![time, x, y].every((value) => Number.isFinite(Number(value)))) continue;
    // A later event of the same millisecond replaces the earlier one.
    if (events.length > 0 && Number(time) <= events.at(-1).time) events.pop();
    events.push({ time: Number(time), x: Number(x), y: Number(y) });
  }
  return events;
}

export class Recording {
  #xs;
  #ys;

  constructor(events, seconds) {
    const first = events[0].time;
    this.events = events
      .map(({ time, x, y }) => ({ time: time - first, x, y }))
      .filter(({ time }) => time < seconds * 1000);
    this.start = 0;
    this.end = seconds * 1000;
    const count = Math.ceil(this.end / STEP) + 1;
    [this.#xs, this.#ys] = [new Float64Array(count), new Float64Array(count)];
    let at = 0;
    for (let i = 0; i < count; i++) {
      while (this.events[at + 1]?.time <= i * STEP) at++;
      const [from, to] = [this.events[at], this.events[at + 1]];
      // The pointer rested until shortly before the event.
      const left = to && to.time - from.time > REST ? to.time - 16 : from.time;
      const part = to ? Math.min(Math.max((i * STEP - left) / (to.time - left), 0), 1) : 0;
      this.#xs[i] = from.x + ((to?.x ?? from.x) - from.x) * part;
      this.#ys[i] = from.y + ((to?.y ?? from.y) - from.y) * part;
    }
  }

  /** The true place of the pointer. */
  at(time) {
    const i = Math.min(Math.max(Math.round(time / STEP), 0), this.#xs.length - 1);
    return [this.#xs[i], this.#ys[i]];
  }
}
