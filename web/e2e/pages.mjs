// The pages of a test: built by Vite, and served on a free port.

import { rm } from "node:fs/promises";
import { build, preview } from "vite";

/**
 * Builds the application in the folder `root`, which ends with a slash, and serves it. `more` are
 * further options of Vite's build. `close` removes what was built.
 */
export async function servePages(root, more = {}) {
  const config = { root, logLevel: "error", configFile: false };
  await build({ ...config, ...more });
  const pages = await preview({ ...config, preview: { port: 0, host: "127.0.0.1" } });
  const [address] = pages.resolvedUrls.local;
  return {
    address,
    async close() {
      await pages.close();
      await rm(`${root}dist`, { recursive: true, force: true });
    },
  };
}
