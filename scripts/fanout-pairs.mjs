// Measures an older and a newer build of `groupwire serve` in turn by `groupwire-lab fanout`, and
// prints for each setting the ratio new / old of the server's processor time per delivery, of
// bytes, and of memory per idle connection: the median of all pairs and an interval that holds the
// true median with 98 % (between the second and the second to last of 11 pairs). Ctrl+C ends early
// with what there is. The same generator, groupwire-lab (`make lab`), measures both. Leave the
// machine alone meanwhile.
//
// node scripts/fanout-pairs.mjs --old FILE --new FILE [--lab FILE] [--pairs 11] [--seconds 1]
// [--clients 100,500,1000] [--idle 0]
//   [--settings websocket:40,websocket:0,webtransport:40]

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const FIELDS = ["server_us_per_delivery", "wire_bytes_per_delivery", "kb_per_connection"];

const { values } = parseArgs({
  options: {
    old: { type: "string" },
    new: { type: "string" },
    lab: { type: "string", default: fileURLToPath(new URL("../target/release/groupwire-lab", import.meta.url)) },
    pairs: { type: "string", default: "11" },
    seconds: { type: "string", default: "1" },
    clients: { type: "string", default: "100,500,1000" },
    idle: { type: "string", default: "0" },
    settings: {
      type: "string",
      default: "websocket:40,websocket:0,webtransport:40",
    },
  },
});
if (!values.old || !values.new) throw new Error("name two builds of groupwire: --old FILE --new FILE");

/** The rows of one build, by setting. */
async function measure(server) {
  const rows = new Map();
  for (const setting of values.settings.split(",")) {
    const [system, tick, only] = setting.split(":");
    const clients = (only ?? values.clients).split(/[,+]/).flatMap((count) => ["--clients", count]);
    const options = ["--system", `groupwire-${system}`, "--tick", tick, ...clients];
    const times = ["--seconds", values.seconds, "--idle", values.idle];
    const lines = await run(values.lab, ["fanout", "--groupwire", server, "--json", ...options, ...times]);
    for (const line of lines) {
      const row = JSON.parse(line);
      rows.set(`${row.system} tick ${row.tick_ms} clients ${row.clients}`, row);
    }
  }
  return rows;
}

function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout.on("data", (some) => (text += some));
    child.on("error", reject);
    child.on("close", () => resolve(text.split("\n").filter((line) => line.startsWith("{"))));
  });
}

const ratios = new Map();
process.on("SIGINT", () => {
  summarise();
  process.exit(1);
});
for (let pair = 0; pair < Number(values.pairs); pair++) {
  const builds = pair % 2 ? ["new", "old"] : ["old", "new"];
  const rows = {};
  for (const build of builds) rows[build] = await measure(values[build]);
  for (const [setting, row] of rows.new) {
    const before = rows.old.get(setting);
    for (const field of FIELDS) {
      if (!(before?.[field] > 0) || !(row[field] > 0)) continue;
      const key = `${setting} ${field}`;
      ratios.set(key, [...(ratios.get(key) ?? []), row[field] / before[field]]);
    }
  }
  console.error(`pair ${pair + 1} of ${values.pairs}`);
}
summarise();

/** Prints what the pairs so far say. */
function summarise() {
  for (const [key, all] of [...ratios].sort()) {
    all.sort((a, b) => a - b);
    const at = (index) => all[Math.min(Math.max(index, 0), all.length - 1)].toFixed(3);
    console.log(`${key}: ${at(Math.floor(all.length / 2))} [${at(1)}, ${at(all.length - 2)}] of ${all.length} pairs`);
  }
}
