/**
 * Where the WebAssembly modules of the package are. Bundlers recognise only these expressions, with literal paths, as files
 * of the package.
 */

/** The core's first part, with which a session begins, and the second part with the rest. */
export function coreParts(): readonly [first: URL, second: URL] {
  return [
    new URL("../wasm/groupwire_wasm_first.wasm", import.meta.url),
    new URL("../wasm/groupwire_wasm_second.wasm", import.meta.url),
  ];
}

/** The codecs that the core lacks, except brotli. */
export function codecs(): URL {
  return new URL("../wasm/groupwire_wasm_codecs_bg.wasm", import.meta.url);
}

export function brotli(): URL {
  return new URL("../wasm/groupwire_wasm_brotli_bg.wasm", import.meta.url);
}
