/**
 * The testing kit in a web page: a room, its server and the networks between in one page, for
 * demonstrations and for trying things out. It has what `groupwire/testing` has, and
 * {@link play}, which lets simulated time pass as real time does.
 *
 * @packageDocumentation
 */

import { addressOf, setReader } from "./locate.js";
import { unpack } from "./testing/lzma.js";
import { modules, setPlatform } from "./testing/modules.js";
import type { RoomModule } from "./testing/room-module.js";

export type * from "./api.js";
export type { Direction, NetworkConditions } from "./testing/path.js";
export type { PlayOptions } from "./testing/play.js";
export type { RoomSettings } from "./testing/room-module.js";
export type { Identity, RestartOptions, Rights } from "./testing/server.js";
export type { JoinOptions, SettleOptions, Simulation, SimulationOptions, Who } from "./testing/simulate.js";
export type { Packet } from "./testing/transport.js";
export { awareness, transaction } from "./qos.js";
export { play } from "./testing/play.js";
export { simulate } from "./testing/simulate.js";

/** The room and the first part of the core, one after the other (scripts/wasm.sh). */
const PACKED = new URL("../wasm/groupwire_wasm_page.lzma", import.meta.url);

/** A WebAssembly module begins with these bytes: its name and its version. */
const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/**
 * The second part of the core is requested this many frames after the modules have come, about a
 * second, so that the page shows something first.
 */
const FRAMES_BEFORE_SECOND = 60;

interface Parts {
  readonly room: Uint8Array<ArrayBuffer>;
  readonly first: Uint8Array<ArrayBuffer>;
}

let parts: Promise<Parts> | undefined;

/** Both modules, requested once. After a failure the next call tries again. */
function unpacked(): Promise<Parts> {
  return (parts ??= request().catch((error: unknown) => {
    parts = undefined;
    throw error;
  }));
}

async function request(): Promise<Parts> {
  const response = await fetch(PACKED);
  if (!response.ok) throw new Error(`${PACKED.href}: ${response.status} ${response.statusText}`);
  const bytes = unpack(new Uint8Array(await response.arrayBuffer()));
  const border = bytes.findIndex((_, at) => at > 0 && MAGIC.every((byte, offset) => bytes[at + offset] === byte));
  return { room: bytes.slice(0, border), first: bytes.slice(border) };
}

setReader(async (name) => {
  if (name === "first") return (await unpacked()).first;
  if (name !== "second") return fetch(addressOf(name));
  await modules();
  for (let at = 0; at < FRAMES_BEFORE_SECOND; at += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
  return fetch(addressOf(name), { priority: "low" });
});

/** Those who wait for the end of the task. */
const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.onmessage = () => waiting.shift()?.();

setPlatform({
  loadRoom: async () => {
    const [glue, { room }] = await Promise.all([import("../wasm/groupwire_wasm_room_page.js"), unpacked()]);
    await glue.default({ module_or_path: room });
    return glue as unknown as RoomModule;
  },
  // A message of a channel is a task of its own, and comes sooner than a timer.
  otherTasks: () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      channel.port2.postMessage(undefined);
    }),
  waitsForWholeCore: false,
  throwsReports: false,
});
