// Starts a cluster on this machine: three NATS servers, and three Groupwire servers with the
// whiteboard. Stop it with Ctrl-C. Meanwhile kill any of the servers, by the numbers that it
// prints, and go on to draw. `make cluster` builds Groupwire, fetches NATS and runs this.
//
// usage: node scripts/cluster.mjs GROUPWIRE NATS_SERVER [FOLDER]
//
// GROUPWIRE and NATS_SERVER are the programs. FOLDER keeps what both store, from one start to the
// next; target/cluster if it is left out.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "./ports.mjs";

const SERVERS = ["a", "b", "c"];
/** How long servers may take to start, in milliseconds. */
const STARTING = 30_000;
/**
 * How long a server may take to stop, in milliseconds. The last one waits longer for another one
 * that takes its rooms, in vain.
 */
const STOPPING = 3_000;
/** After this time a server that was killed starts again, in milliseconds. */
const PAUSE = 10_000;

const [groupwire, nats, folder = "target/cluster"] = process.argv.slice(2);
if (groupwire === undefined || nats === undefined) {
  console.error("usage: node scripts/cluster.mjs GROUPWIRE NATS_SERVER [FOLDER]");
  process.exit(2);
}

const running = new Map();
let isStopping = false;

mkdirSync(folder, { recursive: true, mode: 0o700 });
const secret = join(folder, "secret");
if (!existsSync(secret)) writeFileSync(secret, randomBytes(32).toString("hex"), { mode: 0o600 });

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, stop);

const ports = await freePorts(SERVERS.length * 5);
const nodes = SERVERS.map((name) => {
  const [client, route, monitoring, cluster, http] = ports.splice(0, 5);
  return { name, client, route, monitoring, cluster, http: `127.0.0.1:${http}` };
});
nodes.forEach(startNats);
await Promise.all(nodes.map((node) => until(`http://127.0.0.1:${node.monitoring}/healthz`)));
nodes.forEach(startGroupwire);
const lines = await Promise.all(nodes.map((node) => node.announced));
console.log("\nThree servers share their rooms. Open the same board on each of them:\n");
nodes.forEach((node, at) => {
  const page = /http\S+/.exec(lines[at])?.[0] ?? lines[at];
  console.log(`  server ${node.name}  ${page}`);
});
console.log("\nKill one, and draw on at the others:\n");
for (const node of nodes) {
  const pid = (kind) => running.get(`${kind} ${node.name}`)?.pid;
  console.log(`  server ${node.name}  kill -9 ${pid("groupwire")}     its NATS server  kill -9 ${pid("nats")}`);
}
console.log(`
What is killed starts again after ${PAUSE / 1000} s. A page begins at the server that it came from, and moves to the one that has
its board. If that is killed, it goes back to the first. If that is the killed one, it says "reconnecting" until the server is
back, because there is no balancer in front; it keeps what is drawn, and sends it then.
Without -9 a server hands its rooms over first. Ctrl-C stops everything.
`);

/** Starts a NATS server, which syncs each record before it acknowledges it. */
function startNats(node) {
  const routes = nodes.map((other) => `nats://127.0.0.1:${other.route}`).join(", ");
  const config = join(folder, `nats-${node.name}.conf`);
  writeFileSync(
    config,
    `server_name: nats-${node.name}
listen: "127.0.0.1:${node.client}"
http: "127.0.0.1:${node.monitoring}"
jetstream { store_dir: "${join(folder, `nats-${node.name}`)}", sync_interval: always }
cluster { name: groupwire, listen: "127.0.0.1:${node.route}", routes: [${routes}] }
`,
  );
  start(`nats ${node.name}`, nats, ["-c", config], () => startNats(node));
}

function startGroupwire(node) {
  const engine = nodes.map((other) => `nats://127.0.0.1:${other.client}`).join(",");
  const monitoring = nodes.map((other) => `http://127.0.0.1:${other.monitoring}`).join(",");
  const options = {
    engine,
    node: node.name,
    listen: node.http,
    "client-address": `http://${node.http}`,
    origin: nodes.map((other) => `http://${other.http}`).join(","),
    data: join(folder, `groupwire-${node.name}`),
    "cluster-secret": secret,
    "cluster-listen": `127.0.0.1:${node.cluster}`,
    "engine-monitoring": monitoring,
    log: "warn",
  };
  const given = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = start(`groupwire ${node.name}`, groupwire, ["serve", ...given], () => startGroupwire(node));
  node.announced = new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.split("\n")[0]);
    });
  });
}

/** Starts a process, whose output on standard error is shown after its name. */
function start(name, program, args, again) {
  // A process group of its own: Ctrl-C in a terminal reaches all of a group, but servers are
  // stopped in an order, and a second signal would end them at once.
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  running.set(name, child);
  child.on("error", (error) => fail(`${name}: ${error.message}`));
  const isShown = name.startsWith("groupwire");
  child.stderr.on("data", (data) => {
    // That a second signal ended a server, below, is no news.
    if (isShown && !isStopping) process.stderr.write(String(data).replace(/^(?=.)/gm, `${name}: `));
  });
  child.on("exit", (code, signal) => {
    running.delete(name);
    if (isStopping) return;
    if (code) return fail(`${name} ended with code ${code}`);
    console.log(`${name} was ${signal === null ? "stopped" : "killed"}; it starts again in ${PAUSE / 1000} s`);
    setTimeout(() => {
      if (isStopping) return;
      again();
      console.log(`${name} starts again: kill -9 ${running.get(name).pid}`);
    }, PAUSE);
  });
  return child;
}

/** Waits until an address answers. */
async function until(address) {
  const end = Date.now() + STARTING;
  while (Date.now() < end) {
    const answer = await fetch(address).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  fail(`${address} does not answer`);
}

function fail(why) {
  console.error(`cluster: ${why}`);
  process.exitCode = 1;
  stop();
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  console.log("stopping");
  // Groupwire hands its rooms over first, for which it needs NATS.
  for (const kind of ["groupwire", "nats"]) {
    const children = [...running].filter(([name]) => name.startsWith(kind)).map(([, child]) => child);
    await Promise.all(children.map(ended));
  }
  process.exit();
}

/** Stops a process, and waits until it has ended. A second signal ends Groupwire at once. */
function ended(child) {
  return new Promise((resolve) => {
    child.on("exit", resolve);
    ["SIGTERM", "SIGTERM", "SIGKILL"].forEach((signal, at) => setTimeout(() => child.kill(signal), at * STOPPING));
  });
}
