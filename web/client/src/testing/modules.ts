/**
 * The platform of a simulation: the WebAssembly modules, the end of a task, and who hears of
 * exceptions. testing.ts and testing-page.ts set it.
 */

import { loadCore, type LoadedCore } from "../core.js";
import type { RoomModule } from "./room-module.js";

export interface Platform {
  /** Loads the module with the server's room. */
  loadRoom(): Promise<RoomModule>;
  /** Resolves once all microtasks have run. */
  otherTasks(): Promise<void>;
  /**
   * Whether a simulation waits for the second part of the core, so that every run is the same.
   * Otherwise its sessions begin plain, as in a page that has just loaded.
   */
  readonly waitsForWholeCore: boolean;
  /**
   * Whether `run` throws the exceptions of listeners. Otherwise the platform reports them, as it
   * does without a simulation.
   */
  readonly throwsReports: boolean;
}

let platform: Platform | undefined;
let loading: Promise<{ readonly core: LoadedCore; readonly room: RoomModule }> | undefined;

export function setPlatform(here: Platform): void {
  platform = here;
}

/** The core of the clients and the room, loaded once. After a failure the next call tries again. */
export function modules(): NonNullable<typeof loading> {
  return (loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  }));
}

/** The core of the clients, with both of its parts. */
export async function wholeCore(): Promise<LoadedCore> {
  const { core } = await modules();
  await core.complete();
  return core;
}

export function otherTasks(): Promise<void> {
  return here().otherTasks();
}

export function throwsReports(): boolean {
  return here().throwsReports;
}

async function load(): Promise<{ readonly core: LoadedCore; readonly room: RoomModule }> {
  const [core, room] = await Promise.all([loadCore(undefined), here().loadRoom()]);
  if (here().waitsForWholeCore) await core.complete();
  return { core, room };
}

function here(): Platform {
  if (!platform) throw new Error("import `groupwire/testing`");
  return platform;
}
