// Runs web/e2e/outage.test.mjs with clients in Node 20, 22 and 24, Bun and Deno, and prints a
// table: which outage each lived through, with its own WebSocket and with the package ws. `make
// test-runtimes` installs the programs first; they are for Linux on x86-64.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const RUNTIMES = {
  "Node 20": "node20/bin/node",
  "Node 22": "node22/bin/node",
  "Node 24": "node24/bin/node",
  Bun: "bun/bin/bun run",
  Deno: "deno/deno run --allow-all",
};

const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
const cwd = fileURLToPath(new URL("../e2e/", import.meta.url));
/** By the name of a test, then by runtime and WebSocket: whether it passed. */
const results = new Map();
const columns = [];

for (const [name, program] of Object.entries(RUNTIMES)) {
  process.stderr.write(`runtimes: ${name}\n`);
  const env = {
    ...process.env,
    GROUPWIRE_RUNTIME: `${modules}${program}`,
    GROUPWIRE_OWN_SOCKET: name === "Node 20" ? "" : "1",
  };
  const options = { cwd, env, stdio: ["ignore", "pipe", "inherit"] };
  const child = spawn(process.execPath, ["--test", "--test-reporter=tap", "outage.test.mjs"], options);
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  await once(child, "close");
  read(name, said);
}

const line = (cells) => console.log(`| ${cells.join(" | ")} |`);
line(["", ...columns]);
line(["---", ...columns.map(() => "---")]);
for (const [test, by] of results) line([test, ...columns.map((column) => by.get(column) ?? "")]);
process.exit([...results.values()].some((by) => [...by.values()].includes("FAILED")) || columns.length === 0 ? 1 : 0);

/**
 * Reads the results of one runtime. Tests of one WebSocket are in a suite, whose line follows them;
 * others count for each.
 */
function read(runtime, said) {
  let inSuite = [];
  const own = [];
  for (const [, indent, not, name] of said.matchAll(/^( *)(not )?ok \d+ - (.*)$/gm)) {
    const result = not ? "FAILED" : "yes";
    if (indent) inSuite.push([name, result]);
    else if (inSuite.length > 0) {
      const column = `${runtime}, ${name.includes("package") ? "ws" : "own"}`;
      own.push(column);
      for (const [test, result] of inSuite.splice(0)) note(test, column, result);
    } else for (const column of own) note(name, column, result);
  }
  columns.push(...own);
}

function note(test, column, result) {
  results.set(test, (results.get(test) ?? new Map()).set(column, result));
}
