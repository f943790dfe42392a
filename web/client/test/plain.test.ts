/**
 * The first part of the core alone: whatever a server sends, it never calls a function of the
 * second.
 */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Core, Output } from "../src/core.js";
import { load, Core as FirstPart } from "../wasm/groupwire_wasm.js";
import { randomOf } from "./random.js";
import * as wire from "./wire.js";

const first = readFileSync(new URL("../wasm/groupwire_wasm_first.wasm", import.meta.url));

/** Bytes of each frame at most: enough for all fields of a frame, and for some records. */
const LONGEST = 60;
const PACKETS = 8000;

test("no packet and no datagram makes a plain session reach for the second part", async () => {
  await load(first);
  const below = randomOf(7);
  const Plain = FirstPart as unknown as new (...args: unknown[]) => Core;
  let now = 0;
  let isOpen = false;
  let hasJoined = false;
  let joins = 0;
  const errors = new Set<string>();

  /** A new session, because some errors end one for good. */
  const begin = (): Core => {
    const core = new Plain(now, "room", new Uint8Array(), new Uint8Array(), 1, true);
    const qos = { kind: "awareness", overflow: "conflate" } as const;
    for (const [name, kind] of Object.entries({ template: 0, off: 1, auto: 2, lz4: 3 } as const)) {
      core.channel(name, qos, { kind, codec: 1, level: undefined, filter: 0 });
    }
    return core;
  };
  let core = begin();
  let hasEnded = false;

  /** Does what the core wants, with transports that open at once. */
  const pump = (): void => {
    for (let output: Output; (output = core.poll(now)).type !== "timeout";) {
      if (output.type === "dial") core.opened(now, 1200);
      if (output.type === "hangup") core.closed(now);
      if (output.type === "dial" || output.type === "hangup") [isOpen, hasJoined] = [output.type === "dial", false];
      if (output.type === "send") core.sent(now);
      if (output.type === "error") errors.add(output.code);
      if (output.type === "status") hasEnded = output.status === "closed";
    }
  };
  const join = (): void => {
    core.received(now, wire.welcome());
    const names = ["template", "off", "auto", "lz4"];
    core.received(now, wire.packet(wire.codecs(0, 1, 2), ...names.map((name, at) => wire.opened(at, at + 1, name, 1))));
    hasJoined = true;
    joins += 1;
  };
  for (let count = 0; count < PACKETS; count++) {
    now += 1 + below(100);
    if (hasEnded) {
      core.free();
      core = begin();
      isOpen = false;
    }
    core.timeout(now);
    pump();
    // Between two transports the client waits.
    while (!isOpen) {
      now += 1000;
      core.timeout(now);
      pump();
    }
    if (!hasJoined) join();
    core.send(now, below(4), new Uint8Array(300), false);
    pump();
    const bytes = Array.from({ length: below(LONGEST) }, () => (below(5) < 3 ? below(4) : below(256)));
    // Frames of all types, with their length or up to the packet's end.
    const type = below(0x40);
    const frame = below(2) === 0 ? [type, bytes.length, ...bytes] : [type | 0x80, ...bytes];
    if (below(5) === 0) core.receivedDatagram(now, Uint8Array.from(frame));
    else core.received(now, Uint8Array.from(frame));
    pump();
  }
  core.leave();
  pump();
  core.free();
  expect(joins).toBeGreaterThan(PACKETS / 10);
  expect(errors).toContain("malformed");
}, 60_000);
