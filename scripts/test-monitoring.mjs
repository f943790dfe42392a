// Checks what operators are given to watch a server with, against a real server, which this script
// starts and ends: its metrics, the alert rules and the dashboard for Grafana. The first argument
// is the server's binary.
//
// With promtool on the PATH, it checks the form of the metrics and the alert rules. With
// prometheus, that scrapes the server while a session is replayed, and every query of the dashboard
// has to return a number.

import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { alerts, DOCUMENTATION, RULES } from "./alerts.mjs";
import { filled, readQueries, sampleNames, unknownNames } from "./dashboard.mjs";
import { SelfSigned } from "../web/e2e/certificate.mjs";
import { machineHas, VARIABLE } from "./skipped.mjs";
import { freePort } from "./ports.mjs";

const TRACE = fileURLToPath(new URL("../samples/whiteboard.bin", import.meta.url));
const RULES_TEST = fileURLToPath(new URL("../packaging/prometheus/alerts.test.yml", import.meta.url));

// Longer than anything here takes on a busy machine.
const PATIENCE_MS = 120_000;

// Rates are over several scrapes.
const SCRAPE_INTERVAL = "200ms";
const RATE_RANGE = "5s";

const binary = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "groupwire-monitoring-"));
const certificate = new SelfSigned();
const children = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
  certificate.remove();
});

const server = await startServer();
const metrics = await (await fetch(`${server.admin}/metrics`, { headers: bearer(server.token) })).text();
checkNames(metrics);
if (has("promtool", "the form of metrics and alert rules")) checkForm(metrics);
if (has("prometheus", "the dashboard shows what happens")) await checkDashboard();
process.exit(0);

/** Every metric in a query of the dashboard or of an alert is one of the server's. */
function checkNames(metrics) {
  const known = sampleNames(metrics);
  // A server that runs alone has no metrics of a cluster. The documentation, which a test of the
  // server compares with them, names them.
  const text = readFileSync(DOCUMENTATION, "utf8");
  for (const [, name] of text.matchAll(/`(groupwire_cluster_\w+)`/g)) known.add(name).add(`${name}_bucket`);
  const documented = alerts(readFileSync(DOCUMENTATION, "utf8"));
  const asked = [
    ...readQueries().map(({ panel, query }) => ({ where: `panel "${panel}"`, query })),
    ...documented.map(({ name, expression }) => ({ where: `alert ${name}`, query: expression })),
  ];
  for (const { where, query } of asked) {
    for (const name of unknownNames(query, known)) fail(`${where}: the server has no metric ${name}`);
  }
  console.log(`monitoring: ${asked.length} queries name metrics of the server`);
}

function checkForm(metrics) {
  promtool(["check", "metrics"], metrics);
  promtool(["check", "rules", RULES]);
  promtool(["test", "rules", RULES_TEST]);
}

function promtool(options, input = "") {
  const ran = spawnSync("promtool", options, { input, encoding: "utf8" });
  // Hints about metrics are on standard error, some with status 0.
  const hints = ran.stderr.trim();
  if (ran.status !== 0 || hints) fail(`promtool ${options.join(" ")}:\n${ran.stdout}${hints}`);
  console.log(`monitoring: promtool ${options.slice(0, 2).join(" ")} passes`);
}

/** Every query of the dashboard returns a number at some time while a session is replayed. */
async function checkDashboard() {
  const prometheus = await startPrometheus();
  const start = Date.now();
  let waiting = readQueries().filter(({ query }) => !query.includes("groupwire_cluster_"));
  const count = waiting.length;
  let load;
  while (waiting.length > 0) {
    if (Date.now() - start > PATIENCE_MS) {
      fail(`no data for:\n${waiting.map(({ panel, query }) => `${panel}: ${query}`).join("\n")}`);
    }
    if (!load || load.exitCode !== null) load = startLoad();
    const answers = await Promise.all(waiting.map(({ query }) => hasNumber(prometheus, filled(query, RATE_RANGE))));
    waiting = waiting.filter((_, index) => !answers[index]);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  console.log(`monitoring: ${count} queries of the dashboard return numbers from Prometheus`);
}

async function hasNumber(prometheus, query) {
  const response = await fetch(`${prometheus}/api/v1/query`, { method: "POST", body: new URLSearchParams({ query }) });
  const { status, error, data } = await response.json();
  if (status !== "success") fail(`Prometheus cannot read ${query}: ${error}`);
  return data.result.some(({ value }) => Number.isFinite(Number(value[1])));
}

/**
 * Starts the server on free ports, with everything that has metrics of its own: { url, admin, token
 * }.
 */
async function startServer() {
  const secret = join(folder, "webhook-secret");
  writeFileSync(secret, `whsec_${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
  const plain = `127.0.0.1:${await freePort()}`;
  const options = ["serve", "--listen", "127.0.0.1:0", "--no-webtransport", "--data", join(folder, "rooms")];
  // No program listens on that port. Events wait.
  options.push("--webhook", `http://127.0.0.1:${await freePort()}/`, "--webhook-secret-file", secret);
  options.push(...certificate.options, "--plain-listen", plain);
  const found = /(http:\/\/127\.0\.0\.1:\d+)\/inspector\/#token=(\S+)/;
  const [, admin, token] = await started(binary, options, found);
  return { url: `ws://${plain}`, admin, token };
}

/** Starts Prometheus, which scrapes the server; returns its address. */
async function startPrometheus() {
  const config = join(folder, "prometheus.yml");
  const job = {
    job_name: "groupwire",
    authorization: { credentials: server.token },
    static_configs: [{ targets: [new URL(server.admin).host] }],
  };
  const global = { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: SCRAPE_INTERVAL };
  // YAML reads JSON.
  writeFileSync(config, JSON.stringify({ global, rule_files: [RULES], scrape_configs: [job] }), { mode: 0o600 });
  const address = `127.0.0.1:${await freePort()}`;
  const data = join(folder, "prometheus");
  const options = [`--config.file=${config}`, `--storage.tsdb.path=${data}`, `--web.listen-address=${address}`];
  await started("prometheus", options, /Server is ready to receive web requests/);
  return `http://${address}`;
}

/** Replays a session for some seconds. */
function startLoad() {
  const options = ["--trace", TRACE, "--participants", "4", "--rate", "20", "--seconds", "5", "--url", server.url];
  const child = spawn(binary, ["replay", ...options], { stdio: "ignore" });
  children.push(child);
  return child;
}

/** Starts a program, and waits until it has printed what `pattern` matches; returns the match. */
function started(program, options, pattern) {
  const child = spawn(program, options, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return new Promise((resolve) => {
    let printed = "";
    const late = setTimeout(() => fail(`${program} did not start\n${printed}`), PATIENCE_MS);
    const read = (data) => {
      printed += data;
      const found = pattern.exec(printed);
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("error", (error) => fail(`${program} cannot be run: ${error.message}`));
    child.on("exit", (code) => fail(`${program} ended with ${code}\n${printed}`));
  });
}

function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

/**
 * Whether a program is there; otherwise says that a check is skipped, also in the file that
 * scripts/skipped.mjs reads.
 */
function has(program, check) {
  if (machineHas(program)) return true;
  console.log(`skipped: ${check}: needs ${program}`);
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${check}: needs ${program}\n`);
  return false;
}

function fail(why) {
  console.error(`monitoring: ${why}`);
  process.exit(1);
}
