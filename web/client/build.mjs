// Builds the package: the WebAssembly modules as JavaScript for development servers, then
// TypeScript, the code of voice for the audio thread, and Opus, then the entries that are one file:
// CommonJS for Node's `require`, and one for workers. `make run` leaves out the testing kit, which
// its pages do not need (scripts/build.sh).

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

/**
 * The glue of wasm-bindgen guesses where its module is. The guess is never used (src/locate.ts),
 * but wrong in another folder, and the bundlers of users would ask for a file there.
 */
const NO_GUESS = {
  name: "no-guess",
  transform(code) {
    const guess = /new URL\('\w+_bg\.wasm', import\.meta\.url\)/;
    return guess.test(code) ? { code: code.replace(guess, "undefined"), map: null } : undefined;
  },
};

/**
 * Opus is loaded in browsers only. In Node, which has no sound, one file of all modules leaves it
 * out.
 */
const NO_OPUS = {
  name: "no-opus",
  resolveId: (source) => (source.endsWith("/opus.js") ? "\0no-opus" : undefined),
  load: (id) => (id === "\0no-opus" ? "export const opus = undefined;" : undefined),
};

/**
 * The glue of Emscripten uses modules of Node when it runs there, and the bundlers of users would
 * look for them.
 */
const NO_NODE = {
  name: "no-node",
  transform: (code) => ({
    code: code
      .replace(/ENVIRONMENT_IS_NODE=globalThis[^;]*;/, "ENVIRONMENT_IS_NODE=false;")
      .replaceAll(/await import\("node:\w+"\)/g, "{}"),
    map: null,
  }),
};

const IS_WITHOUT_TESTING = Boolean(process.env.GROUPWIRE_WITHOUT_TESTING);

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
inline("wasm", "wasm/inline");
compile("dist");
await inlineWorklet();
await bundleOpus();
// The declarations once more for `require`: TypeScript takes the kind of a module from the nearest
// package.json.
compile("dist/cjs", "--emitDeclarationOnly");
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
// Jest's jsdom environment lacks these classes.
const banner = 'const { TextDecoder, TextEncoder } = require("node:util");';
const entries = [
  "devtools",
  "motion",
  "node",
  "schema",
  "shared",
  "store",
  "voice",
  ...(IS_WITHOUT_TESTING ? [] : ["testing"]),
];
for (const entry of entries) {
  const output = { file: `dist/${entry}.cjs`, format: "cjs", banner };
  await bundle(`dist/${entry}.js`, { platform: "node", plugins: [NO_GUESS, NO_OPUS], output });
}
// Vite before 8 cannot build a worker that imports parts of its code later.
await bundle("dist/index.js", { output: { file: "dist/worker.js", format: "esm" } });

/** Writes each module as a string of base64, packed by gzip. */
function inline(from, to) {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    const name = /^(.*)\.wasm$/.exec(file)?.[1];
    // The whole core in one file is for applications that name it, and the rooms are for the
    // testing kit.
    if (!name || name === "groupwire_wasm_bg" || name.startsWith("groupwire_wasm_room")) continue;
    const packed = gzipSync(readFileSync(`${from}/${file}`), { level: 9 }).toString("base64");
    writeFileSync(`${to}/${name}.js`, `export default "${packed}";\n`);
    writeFileSync(`${to}/${name}.d.ts`, "declare const packed: string;\nexport default packed;\n");
  }
}

/**
 * Writes the code of the audio thread as one file, and as the text from which a page makes an
 * address. A worklet has no imports that bundlers would follow.
 */
async function inlineWorklet() {
  const file = "dist/voice/worklet-bundle.js";
  await bundle("dist/voice/worklet.js", { output: { file, format: "esm", minify: true } });
  const code = readFileSync(file, "utf8").replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "");
  writeFileSync("dist/voice/worklet-code.js", `export default ${JSON.stringify(code)};\n`);
}

/**
 * Writes libopus in WebAssembly as one file with the licences of what is in it, so that the package
 * depends on no other.
 */
async function bundleOpus() {
  const entry = fileURLToPath(import.meta.resolve("libopus-wasm"));
  const licences = [`${dirname(entry)}/../LICENSE`, "licences/libopus.txt"].map((path) =>
    readFileSync(path, "utf8").trim(),
  );
  const banner = `/*! libopus-wasm:\n\n${licences[0]}\n\nIt contains libopus:\n\n${licences[1]}\n*/`;
  const output = { file: "dist/voice/opus-bundle.js", format: "esm", minify: true, banner, sourcemap: false };
  await bundle(entry, { plugins: [NO_NODE], output });
}

function compile(folder, ...options) {
  const project = IS_WITHOUT_TESTING ? "tsconfig.pages.json" : "tsconfig.build.json";
  const args = ["--project", project, "--outDir", folder, ...options];
  execFileSync("tsc", args, { stdio: "inherit", shell: process.platform === "win32" });
}

/**
 * Makes one file of all modules, in the folder of the entry, because the WebAssembly is named
 * relative to it.
 */
async function bundle(input, { output, ...options }) {
  // Rolldown, the bundler that Vite depends on.
  const require = createRequire(createRequire(import.meta.url).resolve("vite"));
  const { build } = await import(pathToFileURL(require.resolve("rolldown")));
  const one = { codeSplitting: false, sourcemap: true };
  await build({ input, plugins: [NO_GUESS], ...options, output: { ...one, ...output } });
}
