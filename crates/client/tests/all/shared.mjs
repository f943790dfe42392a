// The other program of the test a_program_in_typescript_shares_the_data: node shared.mjs ADDRESS.
// It prints what it has at the end.

import { connect } from "../../../../web/client/dist/node.js";
import { counter, list, map, reducer, shared } from "../../../../web/client/dist/shared.js";

const room = connect(process.argv[2], "both");
const votes = reducer(0, (sum, by) => sum + by);
const data = shared({ shapes: map(), texts: list(), likes: counter(), votes }).open(room);

await until(() => data.shapes.get("r1") !== undefined);
data.shapes.set("both", { typescript: true });
for (let round = 0; round < 20; round += 1) {
  data.batch(() => {
    data.texts.push(`typescript ${round}`);
    data.shapes.set(`t${round}`, { x: round, 7: 1e21 });
    data.shapes.patch("both", { typescript: round });
    data.shapes.patch("r4", { x: undefined, y: round });
    data.likes.add(1);
  });
  data.votes.dispatch(round);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
await until(() => data.shapes.get("done") !== undefined && data.pending === 0);
const shapes = [...data.shapes.value].sort(([one], [other]) => (one < other ? -1 : 1));
console.log(JSON.stringify([shapes, data.texts.value, data.texts.ids, data.likes.value, data.votes.value]));
await room.leave();

/** Waits until a condition is true. */
function until(isTrue) {
  return new Promise((resolve) => {
    const look = () => isTrue() && resolve();
    data.subscribe(look);
    look();
  });
}
