// The tests of the bindings that need another environment: React 18, and frameworks whose packages
// have another entry for servers, which Node would take.

import { fileURLToPath } from "node:url";
import { compile } from "svelte/compiler";
import { defineConfig } from "vitest/config";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Compiles components of Svelte for a page. */
const svelte = {
  name: "svelte",
  transform(code, id) {
    if (!id.endsWith(".svelte")) return undefined;
    const { js } = compile(code, { filename: id, generate: "client" });
    return { code: js.code, map: js.map };
  },
};

/** The entries for pages, where a package has some. */
const forPages = (name, plugins = []) => ({
  plugins,
  resolve: { conditions: ["browser"] },
  ssr: { resolve: { conditions: ["browser"], externalConditions: ["browser"] } },
  test: {
    name,
    root: path(name),
    testTimeout: 120_000,
    execArgv: ["--conditions=browser"],
    server: { deps: { inline: [/node_modules\/(svelte|esm-env|solid-js)\//] } },
  },
});

export default defineConfig({
  test: {
    projects: [
      {
        resolve: {
          alias: ["react", "react-dom"].map((name) => ({
            find: name,
            replacement: path(`react-18/node_modules/${name}`),
          })),
        },
        test: { name: "react 18", root: path("react"), testTimeout: 120_000, env: { GROUPWIRE_REACT: "18" } },
      },
      forPages("svelte", [svelte]),
      forPages("solid"),
    ],
  },
});
