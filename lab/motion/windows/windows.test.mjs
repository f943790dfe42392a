import assert from "node:assert/strict";
import { test } from "node:test";
import { handOf, withoutRests } from "./hand.mjs";
import { SCENES } from "./scenes.mjs";
import { judge } from "./verdict.mjs";

/**
 * A pointer that moves 0.5 px in a millisecond to the right, told every 8 ms, and the frames in
 * which it is shown `lag` ms later.
 */
const [START, LENGTH, LAG] = [1e12, 6000, 100];
const places = Array.from({ length: LENGTH / 8 + 1 }, (_, i) => [START + 8 * i, 4 * i, 50]);
const frames = Array.from({ length: 300 }, (_, i) => [START + 500 + 16 * i, (500 + 16 * i - LAG) / 2, 50]);
const judged = (frames, moves = []) =>
  judge({
    conditions: { scene: "test" },
    truth: { places, states: [] },
    shown: { frames, states: [] },
    moves,
    length: LENGTH,
  });

test("a pointer that is shown with a lag has no error at that lag, and no gap", () => {
  const { row, frames: lines } = judged(frames);
  assert.equal(row.lag_ms, LAG);
  assert.ok(row.error_median < 3 && Math.abs(row.now_median - LAG / 2) < 3, JSON.stringify(row));
  assert.ok(row.gap_ms < 40, JSON.stringify(row));
  assert.equal(lines.length, frames.length);
});

test("a pointer that stands still or is not shown makes a gap, and belongs to the change of address before it", () => {
  const stands = frames.map(([at, x, y], i) => [at, i >= 100 && i < 130 ? frames[100][1] : x, y]);
  const moves = [START + 500 + 16 * 95, START + 500 + 16 * 200].map((at) => ({ at, who: "sender" }));
  const { row } = judged(stands, moves);
  assert.ok(row.gap_ms > 400 && row.gap_ms <= 30 * 16, JSON.stringify(row));
  assert.equal(row.moves[0].gap_ms, row.gap_ms);
  assert.ok(row.moves[1].gap_ms < 40, JSON.stringify(row));
  const hidden = judged(frames.map((frame, i) => (i >= 100 && i < 130 ? [frame[0], null, null] : frame))).row;
  assert.ok(Math.abs(hidden.gap_ms - 30 * 16) < 40, JSON.stringify(hidden));
  assert.equal(hidden.hidden_frames, 30);
});

test("rests of a hand are cut, and it stays within the window for as long as it is asked for", () => {
  const cut = withoutRests([0, 10, 5010, 5020].map((time) => ({ time, x: 0, y: 0 })));
  assert.deepEqual(
    cut.map(({ time }) => time),
    [0, 10, 310, 320],
  );
  const { name, places } = handOf(undefined, { skip: 0, length: 30_000, view: { width: 1200, height: 800 } });
  assert.equal(name, "generated");
  assert.ok(places.at(-1).time > 29_000 && places.at(-1).time < 30_000);
  assert.ok(places.every(({ x, y }) => x >= 40 && x <= 1160 && y >= 120 && y <= 710));
  assert.ok(places.every(({ time }, i) => i === 0 || (time > places[i - 1].time && time - places[i - 1].time <= 310)));
});

test("whoever moves away comes back, and nothing is carried before", () => {
  const turns = SCENES.moves.turns(60_000);
  for (const who of [0, 1]) assert.equal(turns.filter((turn) => turn.who === who && turn.moves).length, 2);
  assert.ok(turns.every(({ moves, to }, i) => moves || (to.loss === "rand100" && turns[i + 1].moves)));
});
