/** The build configuration of all applications. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Plugin, UserConfig } from "vite";

const DOUBLE = fileURLToPath(new URL("test/double.ts", import.meta.url));

/**
 * `--mode double` connects windows by an in-memory room instead of a server, for work on the design; it is never
 * shipped.
 */
export function config(mode: string): UserConfig {
  return {
    base: "./",
    resolve: mode === "double" ? { alias: { groupwire: DOUBLE } } : {},
    plugins: [gzip()],
  };
}

/** Writes a compressed copy beside each file; the server sends it to browsers that accept gzip. */
function gzip(): Plugin {
  return {
    name: "gzip",
    apply: "build",
    writeBundle({ dir }) {
      if (!dir) return;
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(html|js|css|wasm|svg)$/.test(name)) continue;
        const path = join(dir, name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}
