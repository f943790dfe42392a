// Measures shared data (docs/shared.md) with a map of 10,000 values, in simulated rooms with the real core: how long the program takes
// for 10,000 operations and for undoing 200 of them, how long both ends take until the operations have come, and how long a late joiner
// takes. Prints a line of JSON for each, with the milliseconds of computing and, where there are operations, the microseconds of one.
//
// Run it after `make web`: node scripts/shared-times.mjs [VALUES]

import { map, shared } from "../web/client/dist/shared.js";
import { simulate } from "../web/client/dist/testing.js";

const VALUES = Number(process.argv[2] ?? 10_000);
/** As many operations as can be undone. */
const UNDOS = 200;
const board = shared({ shapes: map() });
const net = simulate({ seed: 1, delay: 5 });

/** Runs something and prints what it took. */
async function time(what, operations, run) {
  process.stderr.write(`${what} ...\r`);
  const start = performance.now();
  await run();
  const ms = performance.now() - start;
  const each = operations === undefined ? {} : { operations, us_per_operation: round((ms * 1000) / operations) };
  console.log(JSON.stringify({ experiment: "shared", what, values: VALUES, ms: round(ms), ...each }));
}

const round = (value) => Math.round(value * 10) / 10;
const key = (at) => `shape${at}`;

const [a, b] = net.join(2).map((room) => board.open(room));
await net.settle();
await time("fill the map", VALUES, () => {
  for (let at = 0; at < VALUES; at += 1) a.shapes.set(key(at), { x: at, y: -at, color: "red" });
});
await time("fill the map: until it has come", VALUES, () => net.settle());
await time("change fields", VALUES, () => {
  for (let at = 0; at < VALUES; at += 1) a.shapes.patch(key((at * 7919) % VALUES), { x: at });
});
await time("change fields: until it has come", VALUES, () => net.settle());
await time("change and look at the whole map", UNDOS, () => {
  for (let at = 0; at < UNDOS; at += 1) {
    b.shapes.patch(key(at), { y: at });
    if (b.shapes.value.size !== VALUES) throw new Error("values are missing");
  }
});
await net.settle();
await time("undo", UNDOS, () => {
  for (let at = 0; at < UNDOS; at += 1) if (!a.undo()) throw new Error("it cannot be undone");
});
await net.settle();
let late;
await time("a late join", undefined, async () => {
  late = board.open(net.join());
  await net.settle();
});
for (const [name, data] of Object.entries({ b, late }))
  if (JSON.stringify([...data.shapes.value].sort()) !== JSON.stringify([...a.shapes.value].sort()))
    throw new Error(`${name} has other values`);
net.end();
