/** A session that begins on the first part of the core, and moves when the second part has come. */

import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { transaction } from "../src/index.js";
import { dialled, join, settled, type SocketDouble } from "./double.js";
import * as wire from "./wire.js";
import { until } from "./until.js";

const [first, second] = ["first", "second"].map((part) =>
  readFileSync(new URL(`../wasm/groupwire_wasm_${part}.wasm`, import.meta.url)),
) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];

afterEach(() => void vi.unstubAllGlobals());

/** W10: CONTRACTS and QUALITY need nothing of the second part, CODED does. */
const PLAIN = 128 | 512;
const CODED = 1024;

/** The capabilities in the opening of a transport. */
function capabilities({ packets: [opening] }: SocketDouble): number {
  const [hello] = wire.frames(opening?.subarray(1) ?? new Uint8Array());
  const [low = 0, high = 0] = hello?.payload.subarray(1) ?? [];
  return low & 0x80 ? (low & 0x7f) | (high << 7) : low;
}

test("a session begins plain, tries again to load the second part, and moves to a transport on which it states all", async () => {
  const requests: ((response: Response) => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => requests.push(resolve)));
  const it = join({ wasm: [first, "http://server.example/second.wasm"] });
  const { room, sockets } = it;
  const statuses: string[] = [];
  room.on("status", (status) => statuses.push(status));
  const draw = room.channel("draw", transaction());
  const seen: unknown[] = [];
  draw.on("message", ({ data }) => seen.push(data));
  draw.send("early");

  const joins = (socket: SocketDouble, outcome: number): void => {
    socket.serverSends(wire.welcome({ outcome }));
    socket.serverSends(wire.packet(wire.opened(0, 1, "draw", 0), wire.synced()));
  };
  const plain = await dialled(it);
  expect(capabilities(plain)).toBe(PLAIN);
  joins(plain, 0);
  plain.serverSends(wire.packet(wire.messages({ channel: 1, sender: 2, text: "from another" })));
  await settled();
  expect(seen).toEqual(["from another"]);
  expect(plain.frames().some(({ type }) => type === wire.MESSAGES)).toBe(true);
  expect(room.stats.plain).toContain("is loading");

  await until(() => requests.length === 1);
  requests[0]?.(new Response("", { status: 404 }));
  await until(() => room.stats.plain?.includes("404"));
  expect(sockets.length).toBe(1);

  // After a break the network may be another one.
  plain.drop();
  const again = await dialled(it, 1);
  expect(capabilities(again)).toBe(PLAIN);
  joins(again, 1);
  await until(() => requests.length === 2);
  statuses.length = 0;
  requests[1]?.(new Response(second, { headers: { "Content-Type": "application/wasm" } }));
  const complete = await dialled(it, 2);
  expect(again.isClosed).toBe(true);
  expect(capabilities(complete) & CODED).toBe(CODED);
  joins(complete, 1);
  await settled();
  expect(room.stats).toMatchObject({ plain: undefined, reconnects: 1 });
  expect(statuses).toEqual([]);
});
