// Sizes of one React page with cursors and avatars, made on several packages, as Vite builds it.

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(new URL("../package.json", import.meta.url));

/** The pages, by the names of their files in apps/, and the packages that they are made on. */
export const PAGES = {
  none: "React and the page itself, without others",
  yjs: "Yjs with y-websocket",
  groupwire: "`groupwire-react`",
  liveblocks: "`@liveblocks/react`",
};

/**
 * The files of a page as a browser loads them, by kind: before it connects a page loads
 * `javascript`, and then, of Groupwire, the WebAssembly core in two parts, of which the `first` is
 * enough to send and receive.
 */
export async function filesOf(page) {
  const { build } = await import(pathToFileURL(require.resolve("vite")));
  const { output } = await build({
    root: here,
    logLevel: "error",
    configFile: false,
    resolve: {
      alias: {
        app: `${here}apps/${page}.tsx`,
        // One React for all, also for packages outside of this folder.
        ...Object.fromEntries(["react", "react-dom"].map((name) => [name, `${here}node_modules/${name}`])),
      },
    },
    build: { write: false, assetsInlineLimit: 0 },
  });
  const chunks = output.filter(({ type }) => type === "chunk");
  const first = new Set();
  const add = (name) => {
    const chunk = chunks.find(({ fileName }) => fileName === name);
    if (!chunk || first.has(chunk)) return;
    first.add(chunk);
    chunk.imports.forEach(add);
  };
  chunks.filter(({ isEntry, moduleIds }) => isEntry || moduleIds.some(isGlue)).forEach(({ fileName }) => add(fileName));
  const wasm = (part) => output.filter(({ fileName }) => new RegExp(`groupwire_wasm_${part}.*\\.wasm$`).test(fileName));
  return {
    javascript: [...first].map(({ code }) => code),
    first: sources(wasm("first")),
    second: sources(wasm("second")),
  };
}

/** The core's glue is imported later, but always. */
const isGlue = (id) => id.endsWith("/groupwire_wasm.js");
const sources = (assets) => assets.map(({ source }) => source);
