// Sizes of one React page with cursors and avatars, made on several packages, as Vite builds it: a line of JSON each. Before it connects a
// page loads `javascript`, and then, of Groupwire, the WebAssembly core in two parts, of which the first is enough to send and receive.
//
// Run it after `make web`: (cd web/sizes && npm ci) && node web/sizes/sizes.mjs

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotli, gzip } from "../../scripts/compress.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(new URL("../package.json", import.meta.url));
const { build } = await import(pathToFileURL(require.resolve("vite")));

/** The files of a page as a browser loads them, by kind. */
async function filesOf(app) {
  const { output } = await build({
    root: here,
    logLevel: "error",
    configFile: false,
    resolve: {
      alias: {
        app: `${here}apps/${app}.tsx`,
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

function sum(files, compress) {
  return files.reduce((all, file) => all + compress(Buffer.from(file)).length, 0);
}

const plain = (bytes) => bytes;
// Where it is not smaller, there is no compressed copy.
const smaller = (bytes) => brotli(bytes) ?? bytes;

for (const app of ["none", "groupwire", "liveblocks", "yjs"]) {
  const files = await filesOf(app);
  const row = { app };
  for (const [kind, all] of Object.entries(files)) {
    if (all.length === 0) continue;
    row[kind] = { files: all.length, bytes: sum(all, plain), gzip: sum(all, gzip), brotli: sum(all, smaller) };
  }
  console.log(JSON.stringify(row));
}
