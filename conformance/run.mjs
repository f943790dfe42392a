// Plays every scenario with every client, and prints the table of the results.
//
//   node conformance/run.mjs SERVER BUILT [--write] [--only SCENARIO] [--language LANGUAGE] [--others LANGUAGE]
//
// SERVER is the server's program, BUILT the folder of Cargo's dev profile with the drivers. --write
// puts the table into docs/conformance.md; without it the table there is checked. The participants
// other than the subject are played by the client in Rust, or by that of --others.

import { readFileSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { countSkipped } from "../scripts/skipped.mjs";
import { Driver } from "./lib/driver.mjs";
import { ALL, LANGUAGES, makeDriver } from "./lib/drivers.mjs";
import { Play } from "./lib/scenario.mjs";
import { Server } from "./lib/server.mjs";
import { checkTable, tableOf, writeTable } from "./lib/table.mjs";

const folder = new URL("scenarios/", import.meta.url);

/** The number of clients that play at the same time. Each of them has some four processes. */
const AT_ONCE = 2;

const { values, positionals } = parseArgs({
  options: {
    write: { type: "boolean" },
    only: { type: "string" },
    language: { type: "string" },
    others: { type: "string", default: "Rust" },
  },
  allowPositionals: true,
});
const [binary, built] = positionals;
if (!built) {
  console.error("usage: node conformance/run.mjs SERVER BUILT [--write] [--only SCENARIO] [--language LANGUAGE]");
  process.exit(2);
}
const scenarios = readdirSync(folder)
  .sort()
  .map((file) => ({
    name: file.replace(/^\d+-|\.json$/g, ""),
    ...JSON.parse(readFileSync(new URL(file, folder), "utf8")),
  }))
  .filter(({ name }) => !values.only || name === values.only);
const languages = values.language ? ALL.filter((language) => language === values.language) : LANGUAGES;
if (languages.length === 0) throw new Error(`--language is one of ${ALL.join(", ")}`);
const chosen = languages.map((language) => makeDriver(language, built));
const others = chosen.find(({ language }) => language === values.others) ?? makeDriver(values.others, built);
if (others.missing) throw new Error(`the driver that plays the others is missing: ${others.missing}`);

for (const { language, missing } of chosen.filter(({ missing }) => missing)) skip(language, missing);
const shared = new Server(binary);
let results;
try {
  await shared.start();
  const waiting = chosen.filter(({ missing }) => !missing);
  results = [];
  const playing = Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await playAll(next));
  });
  await Promise.all(playing);
} finally {
  await shared.remove();
}

const table = tableOf(scenarios, chosen, results);
console.log(`\n${table.text}\n\nconformance: ${table.summary}`);
for (const { language, name, why } of results.flatMap(({ failures }) => failures)) {
  console.error(`\nconformance: ${language} failed ${name}: ${why}`);
}
const isWhole = !values.only && !values.language && chosen.every(({ missing }) => !missing);
if (table.failed > 0) process.exitCode = 1;
else if (values.write && !isWhole) throw new Error("only a run of everything can be written down");
else if (values.write) writeTable(table.text);
else if (isWhole && !checkTable(table.text)) {
  console.error("conformance: docs/conformance.md has another table: make test-conformance WRITE=--write");
  process.exitCode = 1;
}

/** Plays all scenarios with one client, one after the other. */
async function playAll(subject) {
  const { language } = subject;
  const can = await capabilities(subject);
  const [cells, failures] = [new Map(), []];
  for (const scenario of scenarios) {
    const { name, needs = [] } = scenario;
    if (!needs.every((one) => can.includes(one))) {
      cells.set(name, "not yet");
      continue;
    }
    try {
      await play(scenario, subject);
      cells.set(name, "yes");
    } catch (error) {
      cells.set(name, "FAILED");
      failures.push({ language, name, why: error.message });
    }
    console.log(`conformance: ${language}, ${name}: ${cells.get(name)}`);
  }
  return { language, cells, failures };
}

async function play(scenario, subject) {
  const server = scenario.server ? new Server(binary, scenario.server) : shared;
  try {
    if (server !== shared) await server.start();
    await new Play(`${scenario.name} ${subject.language}`, server, { subject, others }).run(scenario);
  } finally {
    if (server !== shared) await server.remove();
  }
}

async function capabilities(subject) {
  const driver = new Driver(subject);
  try {
    return (await driver.run({ do: "hello" })).can;
  } finally {
    driver.stop();
  }
}

/** Counts a client that this machine cannot try (scripts/skipped.mjs). */
function skip(language, missing) {
  console.log(`conformance: skipped ${language}: needs ${missing}`);
  countSkipped(`conformance: ${language}`, missing);
}
