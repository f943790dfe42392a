/**
 * Groupwire for tests: rooms in simulated time, over simulated networks, on the real core and the
 * real room of the server. It runs in Node, with any test runner.
 *
 * @packageDocumentation
 */

import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { addressOf, setReader } from "./locate.js";
import { setPlatform } from "./testing/modules.js";
import type { RoomModule } from "./testing/room-module.js";

export type * from "./api.js";
export type { Direction, NetworkConditions } from "./testing/path.js";
export type { Packet } from "./testing/transport.js";
export type { RoomSettings } from "./testing/room-module.js";
export type { Identity, RestartOptions, Rights } from "./testing/server.js";
export type { JoinOptions, SettleOptions, Simulation, SimulationOptions, Who } from "./testing/simulate.js";
export { awareness, transaction } from "./qos.js";
export { forSeeds } from "./testing/seeds.js";
export { simulate } from "./testing/simulate.js";

// The compiler of Node 20 and 22 puts calls of WebAssembly into the JavaScript around them. If that
// code becomes invalid during a call that returns an object, as `poll` of room and core do, V8 ends
// the process ("unreachable code" in its Deoptimizer).
setFlagsFromString("--no-turbo-inline-js-wasm-calls");
setReader((name) => readFile(addressOf(name)));
setPlatform({
  // Here and not in locate.ts, where bundlers of applications would find it.
  loadRoom: async () => {
    const [glue, module] = await Promise.all([
      import("../wasm/groupwire_wasm_room.js"),
      readFile(new URL("../wasm/groupwire_wasm_room_bg.wasm", import.meta.url)),
    ]);
    await glue.default({ module_or_path: module });
    return glue as unknown as RoomModule;
  },
  // From `node:timers`, whose functions fake timers do not replace. Node runs all microtasks before
  // it.
  otherTasks: () => new Promise((resolve) => setImmediate(resolve)),
  waitsForWholeCore: true,
  throwsReports: true,
});
