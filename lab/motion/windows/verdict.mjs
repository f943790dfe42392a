// Judges what the receiver's page showed by where the sender's pointer was.

import { Judge, percentile } from "../judge.mjs";
import { Recording } from "../recording.mjs";

/** A shown pointer that moved by less (px) stands still. */
const STILL = 0.5;

/** A pointer that stands still this far (px) from where it should be shown is behind. */
const BEHIND = 4;

/**
 * The row of a scene, and a row for each frame. `truth.places` are `[time, x, y]`, `shown.frames`
 * the same or with nulls, `moves` are `{ at, who }`; times are of one clock.
 */
export function judge({ conditions, truth, shown, moves, length }) {
  const start = truth.places[0][0];
  const events = truth.places.map(([time, x, y]) => ({ time, x, y })).sort((a, b) => a.time - b.time);
  const recording = new Recording(unique(events), length / 1000 + 1);
  const all = shown.frames.map(([time, x, y]) => ({ now: time - start, x, y })).filter(({ now }) => now >= 0);
  const frames = all.filter(({ x }) => x !== null);
  const judge = new Judge();
  judge.add(recording, frames);
  const result = judge.result();
  const gaps = gapsOf(all, recording, result.lag_ms);
  const longest = (from, to) =>
    Math.round(Math.max(0, ...gaps.filter((gap) => gap.at >= from && gap.at < to).map(({ ms }) => ms)));
  const times = moves.map(({ at }) => at - start);
  const row = {
    experiment: "windows",
    ...conditions,
    seconds: length / 1000,
    frames: all.length,
    ...result,
    now_median: round(percentile(judge.errors(0), 0.5)),
    error_median: round(percentile(judge.errors(result.lag_ms), 0.5)),
    hidden_frames: all.length - frames.length,
    gap_ms: longest(-Infinity, Infinity),
    // From half a second before: nothing is carried for a while before the address changes.
    moves: moves.map(({ who }, n) => ({
      at_s: round(times[n] / 1000),
      who,
      gap_ms: longest(times[n] - 500, times[n] + 3000),
    })),
    states: Object.entries({ sender: truth.states, receiver: shown.states }).flatMap(([who, states]) =>
      states.map(([time, said]) => ({ at_s: round((time - start) / 1000), who, said })),
    ),
  };
  const of = ({ now, x, y }) => {
    const distance = (lag) => {
      const [trueX, trueY] = recording.at(now - lag);
      return x === null ? null : round(Math.hypot(x - trueX, y - trueY));
    };
    const [trueX, trueY] = recording.at(now);
    const places = { x, y, true_x: round(trueX), true_y: round(trueY) };
    return {
      experiment: "windows-frames",
      scene: row.scene,
      at_ms: round(now),
      ...places,
      now: distance(0),
      error: distance(row.lag_ms),
    };
  };
  return { row, frames: all.map(of) };
}

/**
 * The times in which the shown pointer stood still, or was not shown, although it had to be
 * elsewhere: where it was first seen so, and for how long.
 */
export function gapsOf(frames, recording, lag) {
  const gaps = [];
  let [last, since] = [undefined, undefined];
  for (const frame of frames) {
    const isStill =
      !last || frame.x === null || Math.hypot(frame.x - (last.x ?? 1e9), frame.y - (last.y ?? 1e9)) < STILL;
    last = frame;
    const [x, y] = recording.at(frame.now - lag);
    const isBehind = frame.x === null || Math.hypot(frame.x - x, frame.y - y) > BEHIND;
    if (isStill && isBehind) since ??= frame.now;
    else {
      if (since !== undefined) gaps.push({ at: since, ms: frame.now - since });
      since = undefined;
    }
  }
  if (since !== undefined) gaps.push({ at: since, ms: frames.at(-1).now - since });
  return gaps;
}

/** Of several events at one time, the last. */
function unique(events) {
  return events.filter(({ time }, at) => time !== events[at + 1]?.time);
}

function round(value) {
  return Math.round(value * 100) / 100;
}
