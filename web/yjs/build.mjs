// Builds the package: TypeScript, and one file of CommonJS for Node's `require`.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
compile("dist");
// The declarations once more for `require`: TypeScript takes the kind of a module from the nearest
// package.json.
compile("dist/cjs", "--emitDeclarationOnly");
writeFileSync("dist/cjs/package.json", '{ "type": "commonjs" }\n');
await bundle();

function compile(folder, ...options) {
  const args = ["--project", "tsconfig.build.json", "--outDir", folder, ...options];
  execFileSync("tsc", args, { stdio: "inherit", shell: process.platform === "win32" });
}

/**
 * Makes one file of all modules. Yjs and groupwire stay outside, because a program must have them
 * only once.
 */
async function bundle() {
  // Rolldown, the bundler that Vite depends on.
  const require = createRequire(createRequire(import.meta.url).resolve("vite"));
  const { build } = await import(pathToFileURL(require.resolve("rolldown")));
  await build({
    input: "dist/index.js",
    platform: "node",
    external: [/^groupwire$/, /^yjs$/, /^y-protocols\//, /^lib0\//],
    output: { file: "dist/index.cjs", format: "cjs", sourcemap: true },
  });
}
