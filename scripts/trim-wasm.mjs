// Makes panics in a WebAssembly module end it at once, so that the optimiser drops what they would have said: nobody
// reads it in a browser, and it is a tenth of the module. Run it before names are stripped:
// node scripts/trim-wasm.mjs FROM TO

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

// What Rust's core and alloc call when they give up, by their names in the module. Each is of type `-> !`.
const PANICS =
  /(?:^|\W)(?:core|alloc)\b.*::(?:panicking::\w+(?:::\w+)?|(?:option|result)::\w*(?:unwrap|expect)_failed|slice_\w*_fail|slice_error_fail_rt|len_mismatch_fail|raw_vec::(?:handle_error|capacity_overflow)|handle_alloc_error|panic_on_ord_violation)(?:::h[0-9a-f]{16})?$/;

/** Whether a function of this name only ever panics. */
export function panics(name) {
  return PANICS.test(name);
}

async function main([from, to]) {
  const require = createRequire(new URL("../web/package.json", import.meta.url));
  const { default: binaryen } = await import(pathToFileURL(require.resolve("binaryen")));
  const module = binaryen.readBinary(readFileSync(from));
  let count = 0;
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const found = module.getFunctionByIndex(index);
    if (!panics(binaryen.getFunctionInfo(found).name)) continue;
    binaryen.Function(found).body = module.unreachable();
    count++;
  }
  writeFileSync(to, module.emitBinary());
  // Other compilers may name them otherwise: the module works all the same.
  if (count === 0) console.log("wasm: found no panics to trim; the core is larger than it has to be");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
