/**
 * The plan after moving from Liveblocks. The code before is compiled only: its server is a service.
 */

import { expect, test } from "vitest";
import { joinPlan } from "../src/liveblocks/after";
import { startGroupwire } from "./groupwire";
import { leavesAtEnd, stopsAtEnd, wireTo } from "./servers";
import { untilEqual } from "./until";

test("presence, cursors, events, storage, undo and a break", async () => {
  const server = stopsAtEnd(await startGroupwire());
  const wire = await wireTo(server);
  const ann = leavesAtEnd(await joinPlan(server.url, "plan", "Ann"));
  const bo = leavesAtEnd(await joinPlan(wire.url, "plan", "Bo"));
  await untilEqual(() => [ann.people, bo.people], [["Ann", "Bo"], ["Bo", "Ann"]]); // prettier-ignore
  ann.point(10, 20);
  await untilEqual(() => bo.cursors, [{ x: 10, y: 20 }]);
  for (const emoji of ["👍", "🎉"]) ann.react(emoji);
  await untilEqual(() => bo.reactions, ["👍", "🎉"]);

  let changes = 0;
  bo.subscribe(() => (changes += 1));
  ann.put("a", 1, 2, "tea");
  bo.add("cake");
  await untilEqual(() => [ann.stickers, bo.stickers], [{ a: { x: 1, y: 2, text: "tea" } }, { a: { x: 1, y: 2, text: "tea" } }]); // prettier-ignore
  await untilEqual(() => ann.tasks, ["cake"]);
  expect(changes).toBeGreaterThan(0);

  // Undo concerns own changes only.
  bo.move("a", 5, 6);
  await untilEqual(() => ann.stickers.a?.x, 5);
  bo.undo();
  await untilEqual(() => ann.stickers.a, { x: 1, y: 2, text: "tea" });
  expect(ann.tasks).toEqual(["cake"]);

  wire.cut();
  bo.add("plates");
  ann.add("cups");
  await untilEqual(() => bo.isSaved, false);
  wire.mend();
  await untilEqual(() => [ann.tasks.toSorted(), bo.tasks.toSorted()], Array(2).fill(["cake", "cups", "plates"]));
  expect(ann.tasks).toEqual(bo.tasks);
  await untilEqual(() => bo.isSaved, true);
});
