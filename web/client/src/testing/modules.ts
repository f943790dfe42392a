/**
 * The platform of a simulation: the WebAssembly modules, and the end of a task. testing.ts sets
 * them.
 */

import { loadCore, type LoadedCore } from "../core.js";
import type { ModuleContent } from "../locate.js";
import type { RoomModule } from "./room-module.js";

export interface Platform {
  /** Reads the module with the server's room. */
  readRoom(): Promise<ModuleContent>;
  /** Resolves once all microtasks have run. */
  otherTasks(): Promise<void>;
}

let platform: Platform | undefined;
let loading: Promise<{ readonly core: LoadedCore; readonly room: RoomModule }> | undefined;

export function setPlatform(here: Platform): void {
  platform = here;
}

/** The core of the clients and the room, loaded once. */
export function modules(): NonNullable<typeof loading> {
  return (loading ??= load());
}

/** The core of the clients, with both of its parts. */
export async function wholeCore(): Promise<LoadedCore> {
  return (await modules()).core;
}

export function otherTasks(): Promise<void> {
  return here().otherTasks();
}

async function load(): Promise<{ readonly core: LoadedCore; readonly room: RoomModule }> {
  const [core, glue, module] = await Promise.all([
    loadCore(undefined),
    import("../../wasm/groupwire_wasm_room.js"),
    here().readRoom(),
  ]);
  await Promise.all([core.complete(), glue.default({ module_or_path: module })]);
  return { core, room: glue as unknown as RoomModule };
}

function here(): Platform {
  if (!platform) throw new Error("import `groupwire/testing`");
  return platform;
}
