/** A text document before and after: y-websocket, our endpoint for it, Hocuspocus, and rooms. */

import { generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import * as rooms from "../src/yjs/after";
import { bridge } from "../src/yjs/bridge";
import type { Editor } from "../src/yjs/editor";
import * as hocuspocusAfter from "../src/yjs/hocuspocus-after";
import * as hocuspocus from "../src/yjs/hocuspocus-before";
import { startHocuspocus } from "../src/yjs/hocuspocus-server";
import * as yWebsocket from "../src/yjs/y-websocket-before";
import * as endpoint from "../src/yjs/y-websocket-endpoint";
import { startYWebsocket } from "../src/yjs/y-websocket-server";
import { startGroupwire } from "./groupwire";
import { leavesAtEnd, stopsAtEnd, wireTo, type Running } from "./servers";
import { untilEqual } from "./until";

/** Providers of y-websocket and Hocuspocus take an address with the scheme `ws`. */
const ws = (url: string) => url.replace("http:", "ws:");

/** All people of a test are in one process, and would pass messages on as tabs of a browser do. */
const APART = { disableBc: true };

const SIDES = [
  ["y-websocket", startYWebsocket, (url: string, name: string, me: string) => yWebsocket.openText(ws(url), name, { name: me }, APART)],
  ["Groupwire's endpoint", startGroupwire, (url: string, name: string, me: string) => endpoint.openText(ws(url), name, { name: me }, APART)],
  ["a room of Groupwire", startGroupwire, (url: string, name: string, me: string) => rooms.openText(url, name, { name: me })],
  ["Hocuspocus", startHocuspocus, (url: string, name: string, me: string) => hocuspocus.openText(ws(url), name, { name: me })],
  ["a room of Groupwire with tokens", startWithTokens, (url: string, name: string, me: string) => hocuspocusAfter.openText(url, name, { name: me }, async () => tokenFor(me))],
] as const; // prettier-ignore

describe.each(SIDES)("a text on %s", (_, start, openText) => {
  let server: Running;
  beforeAll(async () => {
    server = stopsAtEnd(await start());
  });
  const open = (url: string, name: string, me: string): Editor => leavesAtEnd(openText(url, name, me));

  test("two write at once, see each other's names, and a late comer has all", async () => {
    const [ann, bo] = [open(server.url, "letter", "Ann"), open(server.url, "letter", "Bo")];
    await untilEqual(() => [ann.others, bo.others], [["Bo"], ["Ann"]]); // prettier-ignore
    ann.text.insert(0, "Dear Cy, ");
    bo.text.insert(0, "Hello. ");
    await untilEqual(() => [ann.text.length, bo.text.length], [16, 16]);
    expect(ann.text.toString()).toBe(bo.text.toString());

    const cy = open(server.url, "letter", "Cy");
    await untilEqual(() => cy.text.toString(), ann.text.toString());
    bo.leave();
    await untilEqual(() => ann.others, ["Cy"]);
  });

  test("what both write during a break is there after it", async () => {
    const wire = await wireTo(server);
    const [ann, bo] = [open(server.url, "list", "Ann"), open(wire.url, "list", "Bo")];
    ann.text.insert(0, "one ");
    await untilEqual(() => bo.text.toString(), "one ");
    wire.cut();
    ann.text.insert(4, "two ");
    bo.text.insert(4, "three ");
    wire.mend();
    await untilEqual(() => [ann.text.length, bo.text.length], [14, 14]);
    expect(ann.text.toString()).toBe(bo.text.toString());
    if (ann.isSaved !== undefined) await untilEqual(() => [ann.isSaved, bo.isSaved], [true, true]);
  });
});

test("a bridge keeps a document the same on both servers while users move", async () => {
  const [theirs, ours] = [stopsAtEnd(await startYWebsocket()), stopsAtEnd(await startGroupwire())];
  const ann = leavesAtEnd(yWebsocket.openText(ws(theirs.url), "plan", { name: "Ann" }, APART));
  ann.text.insert(0, "old ");
  const stop = await bridge(ws(theirs.url), ours.url, "plan");
  const bo = leavesAtEnd(rooms.openText(ours.url, "plan", { name: "Bo" }));
  await untilEqual(() => bo.text.toString(), "old ");
  bo.text.insert(4, "new ");
  await untilEqual(() => ann.text.toString(), "old new ");
  ann.text.insert(8, "both");
  await untilEqual(() => bo.text.toString(), "old new both");
  stop();
});

const { privateKey, publicKey } = generateKeyPairSync("ed25519");

/** A server that takes tokens signed by this test. */
async function startWithTokens(): Promise<Running> {
  const file = joinPath(await mkdtemp(joinPath(tmpdir(), "groupwire-moving-")), "keys.json");
  const key = { ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "test" };
  writeFileSync(file, JSON.stringify({ keys: [key] }));
  return startGroupwire("--jwt-keys", file, "--jwt-issuer", "test", "--jwt-audience", "test");
}

/** A JSON web token for a user who may do everything in all rooms. */
function tokenFor(user: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    iss: "test",
    aud: "test",
    sub: user,
    exp: Math.floor(Date.now() / 1000) + 3600,
    groupwire: { rooms: ["*"] },
  };
  const signed = `${part({ alg: "EdDSA", kid: "test" })}.${part(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}
