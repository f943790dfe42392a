// Builds the package: the WebAssembly modules as JavaScript for development servers, then TypeScript, then CommonJS for
// Node's `require`.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
inline("wasm", "wasm/inline");
compile("dist");
// The declarations once more for `require`: TypeScript takes the kind of a module from the nearest package.json.
compile("dist/cjs", "--emitDeclarationOnly");
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
await bundle("dist/node.js", "dist/node.cjs");

/** Writes each module as a string of base64, packed by gzip. */
function inline(from, to) {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    const name = /^(.*)_bg\.wasm$/.exec(file)?.[1];
    if (!name) continue;
    const packed = gzipSync(readFileSync(`${from}/${file}`), { level: 9 }).toString("base64");
    writeFileSync(`${to}/${name}.js`, `export default "${packed}";\n`);
    writeFileSync(`${to}/${name}.d.ts`, "declare const packed: string;\nexport default packed;\n");
  }
}

function compile(folder, ...options) {
  const args = ["--project", "tsconfig.build.json", "--outDir", folder, ...options];
  execFileSync("tsc", args, { stdio: "inherit", shell: process.platform === "win32" });
}

/** Makes one CommonJS file, in the folder of the entry, because it names the modules relative to itself. */
async function bundle(input, file) {
  // Rolldown, the bundler that Vite depends on.
  const require = createRequire(createRequire(import.meta.url).resolve("vite"));
  const { build } = await import(pathToFileURL(require.resolve("rolldown")));
  await build({ input, platform: "node", output: { file, format: "cjs", codeSplitting: false, sourcemap: true } });
}
