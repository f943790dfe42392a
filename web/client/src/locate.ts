/**
 * Knows where the WebAssembly modules of this package are, and requests them. No other file names
 * their paths.
 */

import type { WasmSource } from "./api.js";

/**
 * The modules: the first part of the core, with which a session begins, its second part with the
 * rest, and the codecs that the core lacks. To add one, add its name here and its address to {@link
 * ADDRESSES}; the compiler then points at all other places that need a line, because they are of
 * the type `Record<ModuleName, …>`.
 */
export type ModuleName = "first" | "second" | "codecs" | "brotli";

/** What an application may pass in place of a module of this package. */
export type ModuleSource = WasmSource | undefined;

/** A module as the glue takes it. */
export type ModuleContent = Response | BufferSource | WebAssembly.Module;

/**
 * The address of each module. Bundlers recognise a file of a package only by this expression, with
 * the literal path and `import.meta.url`. Functions, because an address is made only for a module
 * that is needed.
 */
const ADDRESSES: Record<ModuleName, () => URL> = {
  first: () => new URL("../wasm/groupwire_wasm_first.wasm", import.meta.url),
  second: () => new URL("../wasm/groupwire_wasm_second.wasm", import.meta.url),
  codecs: () => new URL("../wasm/groupwire_wasm_codecs_bg.wasm", import.meta.url),
  brotli: () => new URL("../wasm/groupwire_wasm_brotli_bg.wasm", import.meta.url),
};

/** Reads a module of this package. */
let readOwn: (name: ModuleName) => ModuleContent | Promise<ModuleContent> = (name) => get(name, addressOf(name));

export function addressOf(name: ModuleName): URL {
  return ADDRESSES[name]();
}

/**
 * Replaces how modules of this package are read, where `fetch` of their addresses is not the way.
 */
export function setReader(read: typeof readOwn): void {
  readOwn = read;
}

/**
 * Requests a module at once: from `source` if the application named one, otherwise the package's
 * own file. Call it beside the import of the glue, not after it: the glue alone would request the
 * module one round trip later.
 */
export async function requestModule(name: ModuleName, source: ModuleSource): Promise<ModuleContent> {
  if (source === undefined) return readOwn(name);
  return typeof source === "string" || source instanceof URL ? get(name, source) : source;
}

/** The second part of the core must not delay what the application itself requests. */
function get(name: ModuleName, address: string | URL): Promise<Response> {
  return name === "second" ? fetch(address, { priority: "low" }) : fetch(address);
}
