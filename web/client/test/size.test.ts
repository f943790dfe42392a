import { expect, test } from "vitest";
import { build } from "vite";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";

/** What applications wait for before their first message. */
const LIMIT = 15 * 1024;

test("the part needed before the first message is small, the core's glue included", { timeout: 60_000 }, async () => {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL("..", import.meta.url)),
    build: {
      write: false,
      rollupOptions: {
        input: fileURLToPath(new URL("../src/index.ts", import.meta.url)),
        preserveEntrySignatures: "strict",
      },
    },
  });
  const [one] = [built].flat();
  const output = one && "output" in one ? one.output : [];
  const sizes = new Map<string, number>();
  for (const file of output) {
    if (file.type === "chunk") sizes.set(file.name, gzipSync(file.code, { level: 9 }).length);
  }
  const needed = [...sizes].filter(([name]) => name !== "http");
  // The transports over HTTP come later, if at all.
  expect(sizes.has("http")).toBe(true);
  expect(needed.map(([name]) => name)).toEqual(expect.arrayContaining(["groupwire_wasm", "index"]));
  const size = needed.reduce((sum, [, size]) => sum + size, 0);
  console.info(`needed before the first message: ${size} bytes gzipped; for the rest: ${sizes.get("http")}`);
  expect(size).toBeLessThanOrEqual(LIMIT);
});
