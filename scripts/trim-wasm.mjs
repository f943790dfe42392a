// Replaces the functions that panic in a WebAssembly module by an instruction that ends the module
// at once. The optimiser then removes the panic messages, which nobody reads in a browser and which
// are a tenth of the module. Run it before names are stripped: node scripts/trim-wasm.mjs FROM TO

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

// The names of the functions in Rust's core and alloc that only panic. Each has the return type
// `!`.
const PANICS =
  /(?:^|\W)(?:core|alloc)\b.*::(?:panicking::\w+(?:::\w+)?|(?:option|result)::\w*(?:unwrap|expect)_failed|slice_\w*_fail|slice_error_fail_rt|len_mismatch_fail|raw_vec::(?:handle_error|capacity_overflow)|handle_alloc_error|panic_on_ord_violation)(?:::h[0-9a-f]{16})?$/;

/** Whether a function of this name only ever panics. */
export function panics(name) {
  return PANICS.test(name);
}

async function main([from, to]) {
  const require = createRequire(new URL("../web/package.json", import.meta.url));
  const { default: binaryen } = await import(pathToFileURL(require.resolve("binaryen")));
  binaryen.setDebugInfo(true);
  const module = binaryen.readBinary(readFileSync(from));
  let count = 0;
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const found = module.getFunctionByIndex(index);
    if (!panics(binaryen.getFunctionInfo(found).name)) continue;
    binaryen.Function(found).body = module.unreachable();
    count++;
  }
  writeFileSync(to, module.emitBinary());
  // Another compiler may use other names; the module works without trimming too.
  if (count === 0) console.log("wasm: found no panics to trim; the core is larger than it has to be");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
