// The hand that moves the pointer: a recorded one, or a generated one where there is no recording.

import { existsSync } from "node:fs";
import { randomOf } from "../network.mjs";
import { recordingsIn } from "../recording.mjs";

/** Longer rests, in ms, are cut to this length, because the measurement is about movements. */
const REST = 300;

/** Margins of the window with the page's controls: left and right, above, below. */
const [SIDE, ABOVE, BELOW] = [40, 120, 90];

/** Milliseconds between two places of the generated hand. */
const STEP = 8;

/** Places `{ time, x, y }` of a hand within a window, for `length` milliseconds. */
export function handOf(folder, { skip, length, view }) {
  const recording = folder && existsSync(folder) && recordingsIn(folder, { skip, count: 1, seconds: 3600 })[0];
  const events = recording ? recording.events : generated(length);
  const places = repeated(fitted(withoutRests(events), view), length);
  return { name: recording ? "recorded" : "generated", places };
}

export function withoutRests(events) {
  let [cut, last] = [0, events[0].time];
  return events.map(({ time, x, y }) => {
    cut += Math.max(time - last - REST, 0);
    last = time;
    return { time: time - cut, x, y };
  });
}

/** The same movement, scaled to the window without distortion. */
function fitted(events, { width, height }) {
  const bounds = (of) => [Math.min(...events.map(of)), Math.max(...events.map(of))];
  const [[left, right], [top, bottom]] = [bounds(({ x }) => x), bounds(({ y }) => y)];
  const [wide, high] = [width - 2 * SIDE, height - ABOVE - BELOW];
  const scale = Math.min(wide / (right - left), high / (bottom - top));
  return events.map(({ time, x, y }) => ({
    time,
    x: Math.round(SIDE + (x - left) * scale),
    y: Math.round(ABOVE + (y - top) * scale),
  }));
}

/** The places from the first on, again and again until the time is over. */
function repeated(events, length) {
  const [first, period] = [events[0].time, events.at(-1).time - events[0].time + REST];
  const all = [];
  for (let start = 0; start < length; start += period)
    for (const { time, x, y } of events) all.push({ time: time - first + start, x, y });
  return all.filter(({ time }) => time < length);
}

/** Strokes from place to place that begin and end softly (minimum jerk), as those of an arm. */
function generated(length) {
  const random = randomOf(1);
  const events = [];
  let [time, x, y] = [0, 500, 300];
  while (time < length) {
    const [toX, toY] = [1000 * random(), 600 * random()];
    const [start, took] = [time, 250 + 600 * random()];
    for (; time < start + took; time += STEP) {
      const t = (time - start) / took;
      const part = t ** 3 * (10 - 15 * t + 6 * t * t);
      events.push({ time, x: x + (toX - x) * part, y: y + (toY - y) * part });
    }
    [x, y, time] = [toX, toY, time + REST * random()];
  }
  return events;
}
