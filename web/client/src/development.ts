/**
 * Groupwire on a development server, which takes this entry by the export condition `development`.
 * Vite before version 8 moves a package's JavaScript to another folder (pre-bundling) and leaves
 * the files beside it behind, so that here the WebAssembly modules are inside JavaScript
 * (build.mjs).
 *
 * @packageDocumentation
 */

import { setReader, type ModuleName } from "./locate.js";

export * from "./index.js";

/** The modules, packed by gzip and written in base64. */
const INLINE: Record<ModuleName, () => Promise<{ readonly default: string }>> = {
  first: () => import("../wasm/inline/groupwire_wasm_first.js"),
  second: () => import("../wasm/inline/groupwire_wasm_second.js"),
  codecs: () => import("../wasm/inline/groupwire_wasm_codecs_bg.js"),
  brotli: () => import("../wasm/inline/groupwire_wasm_brotli_bg.js"),
};

setReader(async (name) => {
  const { default: text } = await INLINE[name]();
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "content-type": "application/wasm" } });
});
