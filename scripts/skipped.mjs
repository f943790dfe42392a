// Tests that the machine cannot run: counts them, lists them, and fails in CI if CI has what they
// need.
//
// A test that cannot run appends a line "TEST: needs NEED" to the file that the environment
// variable GROUPWIRE_SKIPPED names, and returns. A NEED is `data` (the folder ../shared/data),
// `namespaces` (for networks), `a firewall that redirects` (nft, within a namespace), `network
// namespaces` (and root, to connect them), `TUN devices`,
// `loop devices` (and root, to mount file systems on them), `a user that is not root`, or the name
// of a program on the PATH.
//
//   node scripts/skipped.mjs COMMAND...     runs a command, then prints what its tests skipped

import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Recordings beside the project, which users do not have. */
const DATA = fileURLToPath(new URL("../../shared/data", import.meta.url));

/** The name of the variable that holds the path of the file. */
export const VARIABLE = "GROUPWIRE_SKIPPED";

/** Counts a test that cannot run here, if somebody counts them. */
export function countSkipped(test, need) {
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${test}: needs ${need}\n`);
}

/**
 * Calls `run` with an environment whose tests say what they skip; returns its result and the
 * skipped tests.
 */
export async function collect(run) {
  const folder = mkdtempSync(join(tmpdir(), "groupwire-skipped-"));
  const file = join(folder, "skipped");
  try {
    const result = await run({ ...process.env, [VARIABLE]: file });
    return {
      result,
      skipped: existsSync(file) ? parse(readFileSync(file, "utf8")) : [],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The skipped tests in a file, each once: { test, need }. */
export function parse(text) {
  const lines = [...new Set(text.split("\n").filter(Boolean))].sort();
  return lines.map((line) => {
    const found = /^(.+): needs (.+)$/.exec(line);
    if (!found) throw new Error(`no line of a skipped test: ${line}`);
    return { test: found[1], need: found[2] };
  });
}

/**
 * Lines to print, and whether the skips are permitted. `has` returns whether this machine has
 * something; `isCi` is true in CI.
 */
export function judge(skipped, isCi, has) {
  const wrong = skipped.filter(({ need }) => isCi && has(need));
  const lines = skipped.map(({ test, need }) => `skipped: ${test}: needs ${need}`);
  lines.push(`skipped: ${skipped.length} ${skipped.length === 1 ? "test" : "tests"}`);
  for (const { test, need } of wrong) lines.push(`skipped: CI has ${need}, so ${test} has to run`);
  return { lines, isFine: wrong.length === 0 };
}

/** True if the machine has what a test needs. */
export function machineHas(need) {
  const succeeds = (program, options) => spawnSync(program, options, { stdio: "ignore" }).status === 0;
  if (need === "namespaces") return succeeds("unshare", ["--net", "--map-root-user", "--", "true"]);
  if (need === "network namespaces") {
    return (
      process.getuid?.() === 0 && succeeds("unshare", ["--net", "--", "ip", "link", "add", "probe", "type", "bridge"])
    );
  }
  if (need === "TUN devices") return existsSync("/dev/net/tun");
  if (need === "loop devices") return process.getuid?.() === 0 && succeeds("losetup", ["--find"]);
  if (need === "data") return existsSync(DATA);
  if (need === "a user that is not root") return process.getuid?.() !== 0;
  return succeeds("sh", ["-c", 'command -v "$1"', "sh", need]);
}

/** Prints what was skipped; returns false if CI has what a test needed. */
export function report(skipped) {
  const { lines, isFine } = judge(skipped, Boolean(process.env.CI), machineHas);
  for (const line of lines) console.log(line);
  return isFine;
}

async function main([program, ...options]) {
  const { result, skipped } = await collect((env) => spawnSync(program, options, { env, stdio: "inherit" }).status);
  if (result !== 0 || !report(skipped)) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
