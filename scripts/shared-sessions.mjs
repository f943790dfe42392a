// Plays random sessions of shared data (docs/shared.md) with the TypeScript package, and lets the
// Rust crate groupwire-shared repeat them: what both send, keep and tell has to be equal, step by
// step.
//
// Run it after `make npm`:
//   node scripts/shared-sessions.mjs                      500 sessions
//   SHARED_SESSIONS=100000 node scripts/shared-sessions.mjs
//   SHARED_SEED=17 node scripts/shared-sessions.mjs       one session
//   node scripts/shared-sessions.mjs --write              the sessions that `cargo test` repeats

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The recorded sessions, which are repeated without Node. */
const RECORDED = join(root, "crates/shared/tests/vectors/sessions.jsonl");
const RECORDED_SEEDS = 25;
/** Longer sessions (characters) have long texts, which the recorded ones need not have. */
const LONGEST_RECORDED = 50_000;

/** The function that plays a session, from its TypeScript. */
async function player() {
  const require = createRequire(join(root, "web/package.json"));
  const { build } = await import(pathToFileURL(require.resolve("rolldown")));
  const folder = join(root, ".cache/shared-sessions");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "sessions.mjs");
  // Sources name their imports as they are called once they are compiled.
  const resolve = { extensionAlias: { ".js": [".ts"] } };
  const input = join(root, "web/client/test/shared/sessions.ts");
  await build({ input, resolve, platform: "node", logLevel: "warn", output: { file, format: "esm" } });
  return (await import(`${pathToFileURL(file)}?${Date.now()}`)).play;
}

/** Writes the lines of sessions to a stream, only as fast as it takes them. */
async function playAll([first, count], stream, longest = Infinity) {
  const play = await player();
  for (let seed = first; seed < first + count && stream.writable; seed += 1) {
    let text = "";
    await play(seed, (line) => (text += `${line}\n`));
    if (text.length < longest && !stream.write(text)) await new Promise((resolve) => stream.once("drain", resolve));
  }
  stream.end();
}

/** Writes sessions into a file. */
export async function record(file, seeds, longest) {
  const stream = createWriteStream(file);
  const written = once(stream, "finish");
  await playAll(seeds, stream, longest);
  await written;
}

async function main() {
  if (process.argv.includes("--write")) return record(RECORDED, [1, RECORDED_SEEDS], LONGEST_RECORDED);
  const { SHARED_SEED: seed, SHARED_SESSIONS: sessions = "500" } = process.env;
  const seeds = seed === undefined ? [1, Number(sessions)] : [Number(seed), 1];
  const locked = process.env.CI ? ["--locked"] : [];
  const args = ["run", ...locked, "--quiet", "--package", "groupwire-shared", "--example", "replay"];
  const program = spawn("cargo", args, { cwd: root, stdio: ["pipe", "inherit", "inherit"] });
  // The program stops at a difference.
  program.stdin.on("error", () => {});
  const ended = once(program, "close");
  await Promise.race([playAll(seeds, program.stdin), ended]);
  const [code] = await ended;
  process.exitCode = code ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
