// The programs that the scores of voice need beside Node, and a folder for what they make.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const tools = join(root, ".cache/tools/voice");

/** A folder that is gone when this program ends. */
export const made = mkdtempSync(join(tmpdir(), "groupwire-voice-"));
process.on("exit", () => rmSync(made, { recursive: true }));

/** The versions of what is installed for this, once. */
const OPUS = "opusscript@0.1.1";
const PYTHON = ["numpy==2.2.6", "pesq==0.0.4"];

/** Installs an Opus for Node, and the Python with PESQ. */
export function install() {
  const stamp = join(tools, "stamp");
  const wanted = [OPUS, ...PYTHON].join(" ");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error(`voice: installing ${wanted} (once, some 30 s)`);
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), "{}");
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", tools, OPUS]);
  run("python3", ["-m", "venv", join(tools, "python")]);
  run(join(tools, "python/bin/pip"), ["install", "--quiet", "--disable-pip-version-check", ...PYTHON]);
  writeFileSync(stamp, wanted);
}

/** Runs a program, and returns what it printed. */
export function run(program, args) {
  const ran = spawnSync(program, args, { encoding: "utf8" });
  if (ran.error?.code === "ENOENT") fail(`${program} is missing: install it with your system's packages`);
  if (ran.status !== 0) fail(`${program} failed: ${ran.error ?? ran.stderr}`);
  return ran.stdout;
}

/** Ends this program. */
export function fail(why) {
  console.error(`voice: ${why}`);
  process.exit(1);
}
