/** The build configuration of all applications. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin, UserConfig } from "vite";
import { brotli, gzip } from "../../scripts/compress.mjs";

/**
 * Uses the sources of the widgets, so that code that the applications import from them is not
 * bundled twice.
 */
const WIDGETS = {
  find: /^groupwire-widgets(?=\/)/,
  replacement: fileURLToPath(new URL("../widgets/src", import.meta.url)),
};
const DOUBLE = fileURLToPath(new URL("test/double.ts", import.meta.url));

/**
 * `--mode double` connects windows by an in-memory room instead of a server, for work on the
 * design; it is never shipped.
 */
export function config(mode: string): UserConfig {
  return {
    base: "./",
    resolve: { alias: [WIDGETS, ...(mode === "double" ? [{ find: /^groupwire$/, replacement: DOUBLE }] : [])] },
    plugins: [compress()],
  };
}

/**
 * Writes compressed copies beside each file; the server sends a browser the one that it accepts.
 */
function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    writeBundle({ dir }) {
      if (!dir) return;
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(html|js|css|wasm|svg)$/.test(name)) continue;
        const path = join(dir, name);
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzip(bytes));
        const smaller = brotli(bytes);
        if (smaller) writeFileSync(`${path}.br`, smaller);
      }
    },
  };
}
