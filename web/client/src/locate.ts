/** Knows where the WebAssembly modules of this package are, and requests them. No other file names their paths. */

import type { ConnectOptions } from "./api.js";

/**
 * The modules. To add one, add its name here and its address to {@link ADDRESSES}; the compiler then points at all
 * other places that need a line, because they are of the type `Record<ModuleName, …>`.
 */
export type ModuleName = "core" | "codecs" | "brotli";

/** What an application may pass in place of a module of this package: its address, or its content. */
export type ModuleSource = ConnectOptions["wasm"];

/** A module as the glue takes it, as `module_or_path`. */
export type ModuleContent = Response | BufferSource | WebAssembly.Module;

/**
 * The address of each module. Bundlers recognise a file of a package only by this expression, with the literal path and
 * `import.meta.url`. Functions, because an address is made only for a module that is needed.
 */
const ADDRESSES: Record<ModuleName, () => URL> = {
  core: () => new URL("../wasm/groupwire_wasm_bg.wasm", import.meta.url),
  codecs: () => new URL("../wasm/groupwire_wasm_codecs_bg.wasm", import.meta.url),
  brotli: () => new URL("../wasm/groupwire_wasm_brotli_bg.wasm", import.meta.url),
};

/** Reads a module of this package. */
let readOwn: (name: ModuleName) => ModuleContent | Promise<ModuleContent> = (name) => fetch(addressOf(name));

export function addressOf(name: ModuleName): URL {
  return ADDRESSES[name]();
}

/** Replaces how modules of this package are read, where `fetch` of their addresses is not the way. */
export function setReader(read: typeof readOwn): void {
  readOwn = read;
}

/**
 * Requests a module at once: from `source` if the application named one, otherwise the package's own file. Call it
 * beside the import of the glue, not after it: the glue alone would request the module one round trip later.
 */
export async function requestModule(name: ModuleName, source: ModuleSource): Promise<ModuleContent> {
  if (source === undefined) return readOwn(name);
  return typeof source === "string" || source instanceof URL ? fetch(source) : source;
}
