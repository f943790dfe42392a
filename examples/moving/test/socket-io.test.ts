/** The chat before and after: lines, people and pointers are the same, also after a break. */

import { beforeAll, describe, expect, test } from "vitest";
import * as after from "../src/socket-io/after";
import * as before from "../src/socket-io/before";
import type { Chat } from "../src/socket-io/chat";
import { startChat } from "../src/socket-io/server";
import { startGroupwire } from "./groupwire";
import { leavesAtEnd, stopsAtEnd, wireTo, type Running } from "./servers";
import { untilEqual } from "./until";

const SIDES = [
  ["Socket.IO", startChat, before.joinChat],
  ["Groupwire", startGroupwire, after.joinChat],
] as const;

describe.each(SIDES)("the chat on %s", (_, start, joinChat) => {
  let server: Running;
  beforeAll(async () => {
    server = stopsAtEnd(await start());
  });
  const join = (url: string, room: string, name: string): Chat => leavesAtEnd(joinChat(url, room, name));

  test("everybody has the same lines, people and pointers", async () => {
    const [ann, bo] = [join(server.url, "tea", "Ann"), join(server.url, "tea", "Bo")];
    await untilEqual(() => [ann.people.toSorted(), bo.people.toSorted()], [["Ann", "Bo"], ["Ann", "Bo"]]); // prettier-ignore
    for (let line = 0; line < 20; line += 1) (line % 2 ? ann : bo).say(`line ${line}`);
    await untilEqual(() => [ann.lines.length, bo.lines.length], [20, 20]);
    expect(ann.lines).toEqual(bo.lines);

    // A moving hand: Socket.IO may drop any position, also the last one, if it is sent `volatile`.
    await untilEqual(() => (ann.point(120, 80), [...bo.pointers]), [["Ann", [120, 80]]]); // prettier-ignore

    const cy = join(server.url, "tea", "Cy");
    await untilEqual(() => cy.lines, ann.lines);
    bo.leave();
    await untilEqual(() => cy.people.toSorted(), ["Ann", "Cy"]);
    expect(ann.people).not.toContain("Bo");
  });

  test("lines of a break arrive after it, once and in order", async () => {
    const wire = await wireTo(server);
    const [ann, bo] = [join(server.url, "cake", "Ann"), join(wire.url, "cake", "Bo")];
    await untilEqual(() => ann.people.toSorted(), ["Ann", "Bo"]);
    ann.say("before");
    await untilEqual(() => bo.lines, ["Ann: before"]);

    wire.cut();
    ann.say("missed");
    await untilEqual(() => ann.people, ["Ann"]);
    bo.say("said meanwhile");
    wire.mend();
    await untilEqual(() => bo.lines.toSorted(), ["Ann: before", "Ann: missed", "Bo: said meanwhile"]);
    await untilEqual(() => ann.lines, bo.lines);
    expect(bo.lines.slice(0, 2)).toEqual(["Ann: before", "Ann: missed"]);
  });
});

test("on Groupwire the last position of a fast movement arrives", async () => {
  const { url } = stopsAtEnd(await startGroupwire());
  const [ann, bo] = [leavesAtEnd(after.joinChat(url, "pie", "Ann")), leavesAtEnd(after.joinChat(url, "pie", "Bo"))];
  await untilEqual(() => bo.people, ["Bo", "Ann"]);
  for (let x = 0; x <= 100; x += 1) ann.point(x, x);
  await untilEqual(() => [...bo.pointers], [["Ann", [100, 100]]]); // prettier-ignore
});
