// Runs the README's commands: every ```sh block, in order, in bash, from the root of the
// repository. A comment on the line before a block changes that:
//
//   <!-- no-test -->                             the block is not run
//   <!-- test: background until "http://" -->    the block is started, must print that text, and runs until the end
//
// The README names the release build; with GROUPWIRE_PROFILE=dev the commands use the binary that
// the other tests have built already.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// A block that builds may take minutes on a small machine.
const TIMEOUT_MS = 15 * 60_000;

/** The ```sh blocks of a Markdown text that are run: { line, script, until }. */
export function blocks(markdown) {
  const lines = markdown.split("\n");
  const found = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = /^(`{3,})(.*)$/.exec(lines[at]);
    if (!fence) continue;
    const start = at;
    do at++;
    while (at < lines.length && lines[at] !== fence[1]);
    if (at === lines.length) throw new Error(`the block of line ${start + 1} does not end`);

    const comment = start > 0 ? lines[start - 1].trim() : "";
    if (fence[2].trim() !== "sh" || comment === "<!-- no-test -->") continue;
    const until = /^<!-- test: background until "(.+)" -->$/.exec(comment)?.[1];
    if (comment.startsWith("<!-- test") && !until) throw new Error(`line ${start}: cannot read ${comment}`);
    found.push({ line: start + 1, script: lines.slice(start + 1, at).join("\n"), until });
  }
  return found;
}

/**
 * Runs blocks one after the other; throws at the first that fails. Ends all blocks in the
 * background.
 */
export async function run(blocks, { cwd = root, env = process.env, timeout = TIMEOUT_MS } = {}) {
  const background = [];
  try {
    for (const block of blocks) {
      console.log(`readme: line ${block.line}${block.until ? " (background)" : ""}\n${block.script}`);
      const process_ = start(block.script, cwd, env);
      if (block.until) background.push(process_);
      await finished(process_, block, timeout);
    }
  } finally {
    await Promise.all(background.map(end));
  }
}

function start(script, cwd, env) {
  // A process group of its own, so that ending it ends what it started too.
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (code, signal) => resolve(signal ?? code));
  });
  return { child, exit };
}

// Waits until a block ends, or until a block in the background has printed its text.
async function finished(process_, { line, until }, timeout) {
  const { child, exit } = process_;
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, timeout, "late");
  });
  let output = "";
  const printed = new Promise((resolve) => {
    const read = (into) => (data) => {
      into.write(data);
      output += until ? data : "";
      if (until && output.includes(until)) resolve("printed");
    };
    child.stdout.on("data", read(process.stdout));
    child.stderr.on("data", read(process.stderr));
  });

  const outcome = await Promise.race([exit, late, printed]);
  clearTimeout(timer);
  if (outcome === (until ? "printed" : 0)) return;
  await end(process_);
  const wanted = until ? ` before it printed "${until}"` : "";
  throw new Error(
    outcome === "late"
      ? `the block of line ${line} took longer than ${timeout / 1000} s${wanted}`
      : `the block of line ${line} ended with ${outcome}${wanted}`,
  );
}

async function end({ child, exit }) {
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // The process group has ended already.
    }
  };
  signal("SIGTERM");
  const kill = setTimeout(signal, 5000, "SIGKILL");
  await exit;
  clearTimeout(kill);
  // Ends processes of the group that ignored the first signal.
  signal("SIGKILL");
  child.stdout?.destroy();
  child.stderr?.destroy();
}

async function main() {
  const found = blocks(readFileSync(`${root}README.md`, "utf8"));
  if (found.length === 0) throw new Error("README.md has no command to run");
  if (process.env.GROUPWIRE_PROFILE === "dev") {
    const directory = `${process.env.CARGO_TARGET_DIR ?? "target"}/debug/`;
    for (const block of found) block.script = block.script.replaceAll(/target\/(release|quick)\//g, directory);
  }
  await run(found);
  console.log(`readme: ${found.length} blocks of commands work`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(`readme: ${error.message}`);
    process.exitCode = 1;
  });
}
