import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

// `--mode double` joins boards by an in-memory room instead of a server: for work on looks, never shipped.
export default defineConfig(({ mode }) => ({
  base: "./",
  resolve: mode === "double" ? { alias: { groupwire: "/test/double.ts" } } : {},
  plugins: [gzip()],
}));

/** Leaves a compressed copy beside each file, which the server hands out to whoever takes it. */
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
