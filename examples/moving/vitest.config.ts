import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const own = (name: string) => fileURLToPath(new URL(`node_modules/${name}`, import.meta.url));

export default defineConfig(({ mode }) => ({
  resolve: {
    // The package `groupwire-yjs` of this repository is a link to a folder with a Yjs of its own; a
    // program may have one Yjs only.
    alias: [
      { find: /^yjs$/, replacement: own("yjs/dist/yjs.mjs") },
      { find: /^(y-protocols|lib0)\//, replacement: own("$1/") },
    ],
  },
  test: {
    // `npm run bytes` measures; it is no test.
    include: [mode === "bytes" ? "bytes.ts" : "test/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    server: { deps: { inline: [/yjs/, /y-websocket/, /y-protocols/, /hocuspocus/, /websocket-server/, /y-leveldb/] } },
  },
}));
