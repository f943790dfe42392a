/** Runs the reader's code in the windows. */

import type { Simulation } from "groupwire/testing/page";

/** What code may import, by the names of packages. */
export type Modules = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Where a window's code runs. */
export interface Place {
  /** The name of the window. */
  readonly name: string;
  readonly root: ShadowRoot;
  /** `connect` of the package `groupwire`. */
  readonly connect: Simulation["connect"];
  readonly modules: Modules;
}

/** Code that cannot run, with the place of the fault where it is known. */
export class CodeError extends Error {
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
  }
}

// `async function` has no name in the global scope.
const AsyncFunction = (async () => {}).constructor as new (...all: string[]) => (...all: unknown[]) => Promise<void>;

/** The name of the code in stacks; the window's name follows. */
const SOURCE = "groupwire-playground-";

/** The lines that `AsyncFunction` puts before the code. */
const HEAD_LINES = 2;

/** Named imports, which may go over several lines. Other imports are told by the error below. */
const IMPORT = /^[ \t]*import\s*\{([^}]*)\}\s*from\s*["']([^"']+)["'][ \t]*;?/gm;

/** Runs code once, with `root` and the imports that it names. Rejects with what it throws. */
export async function run(code: string, { name, root, connect, modules }: Place): Promise<void> {
  const body = withImports(code, modules);
  const make = new AsyncFunction("root", "modules", `${body}\n//# sourceURL=${SOURCE}${name}.js`);
  await make(root, { ...modules, groupwire: { ...modules.groupwire, connect } });
}

/** Replaces imports by constants, without changing the numbers of lines. */
function withImports(code: string, modules: Modules): string {
  const body = code.replace(IMPORT, (whole: string, names: string, from: string, at: number) => {
    const line = code.slice(0, at).split("\n").length;
    const module = modules[from];
    if (!module) {
      throw new CodeError(`there is no package "${from}" here: import from ${Object.keys(modules).join(", ")}`, line);
    }
    for (const part of names.split(",").map((one) => one.trim().split(/\s+as\s+/)[0] ?? "")) {
      if (part && !(part in module) && !(from === "groupwire" && part === "connect")) {
        throw new CodeError(`"${from}" has no "${part}": it has ${Object.keys(module).join(", ")}`, line);
      }
    }
    const lines = "\n".repeat(whole.split("\n").length - 1);
    return `const {${names.replace(/\s+as\s+/g, ": ").replace(/\s+/g, " ")}} = modules["${from}"];${lines}`;
  });
  const other = /^[ \t]*import\b(?!\s*\()/m.exec(body);
  if (other) {
    const line = body.slice(0, other.index).split("\n").length;
    throw new CodeError('write imports as `import { connect } from "groupwire";`', line);
  }
  return body;
}

/** What went wrong, as a sentence; undefined if the error is not one of code in a window. */
export function explain(error: unknown, name?: string): string | undefined {
  if (error instanceof CodeError) return error.line ? `Line ${error.line}: ${error.message}.` : `${error.message}.`;
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const found = new RegExp(`${SOURCE}(\\w+)\\.js:(\\d+)`).exec(stack);
  if (!found && name === undefined) return undefined;
  const message = error instanceof Error ? `${error.message}` : `it threw ${String(error)}`;
  const line = found ? `, line ${Number(found[2]) - HEAD_LINES}` : "";
  return `In ${found?.[1] ?? name}'s window${line}: ${message.replace(/\.$/, "")}.`;
}
