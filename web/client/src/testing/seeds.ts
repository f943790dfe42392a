/** Runs a test with many seeds. */

import { check } from "../arguments.js";
import { failure, shown } from "../errors.js";
import { COUNT } from "./options.js";
import type { Simulation } from "./simulate.js";

/** The simulations that were made since the present run began. */
let made: Simulation[] | undefined;

/**
 * Runs a test once for each seed from 1 to `seeds`, one after the other, and ends the simulations
 * that it made. The error of a run that fails names its seed and has the last lines of the log. The
 * environment variable `GROUPWIRE_SEED` replays one seed alone, and `GROUPWIRE_SEEDS` replaces
 * `seeds`, for longer runs at night. With both, the runs begin with that seed.
 *
 * @example
 * ```ts
 * test("everybody has the same list in the end", () =>
 *   forSeeds(200, async (seed) => {
 *     const net = simulate({ seed, loss: 0.1 });
 *     …
 *   }));
 * ```
 */
export async function forSeeds(seeds: number, run: (seed: number) => unknown): Promise<void> {
  check(seeds, COUNT, "the number of seeds of `forSeeds`");
  check(run, "function", "`run` of `forSeeds`");
  const first = variable("GROUPWIRE_SEED");
  const total = variable("GROUPWIRE_SEEDS") ?? (first === undefined ? seeds : 1);
  const from = first ?? 1;
  for (let seed = from; seed < from + total; seed += 1) await runSeed(seed, run);
}

/** The seed of a simulation that names none. */
export function firstSeed(): number {
  return variable("GROUPWIRE_SEED") ?? 1;
}

/** Remembers a simulation, so that {@link forSeeds} ends it and shows its log. */
export function note(simulation: Simulation): Simulation {
  made?.push(simulation);
  return simulation;
}

async function runSeed(seed: number, run: (seed: number) => unknown): Promise<void> {
  const outer = made;
  const simulations: Simulation[] = (made = []);
  try {
    await run(seed);
  } catch (error) {
    throw explained(error, seed, simulations.at(-1));
  } finally {
    made = outer;
    for (const simulation of simulations) simulation.end();
  }
}

/** The number of log lines in an error. */
const TOLD = 40;

/**
 * The error with its seed. It stays the same object, because test runners show more of their own
 * errors than the text.
 */
function explained(thrown: unknown, seed: number, simulation: Simulation | undefined): unknown {
  const log = simulation ? `\nwhat happened last:\n${simulation.log(TOLD)}` : "";
  const text = `with seed ${seed}; GROUPWIRE_SEED=${seed} runs it alone${log}`;
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown)) {
    return new Error(`${typeof thrown === "string" ? thrown : shown(thrown)}\n${text}`, { cause: thrown });
  }
  const error = thrown as Error;
  const before = error.message;
  error.message = `${before}\n${text}`;
  if (typeof error.stack === "string") error.stack = error.stack.replace(before, () => error.message);
  return error;
}

function variable(name: string): number | undefined {
  const { process } = globalThis as { process?: { env: Readonly<Record<string, string | undefined>> } };
  const text = process?.env[name];
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw failure("invalid-argument", "own", `${name} is a whole number: ${text}`);
  return value;
}
