// Starts a cluster on this machine: three NATS servers, and three Groupwire servers with the
// whiteboard. Stop it with Ctrl-C. Meanwhile kill any of the servers, by the numbers that it
// prints, and go on to draw.
//
// usage: node scripts/cluster.mjs GROUPWIRE NATS_SERVER [FOLDER]
//
// GROUPWIRE and NATS_SERVER are the programs. FOLDER keeps what both store, from one start to the
// next; target/cluster if it is left out.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

const SERVERS = ["a", "b", "c"];
/** How long servers may take to start, in milliseconds. */
const STARTING = 30_000;

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

process.on("SIGINT", stop);
process.on("SIGTERM", stop);

const ports = await freePorts(SERVERS.length * 4);
const nodes = SERVERS.map((name) => {
  const [client, route, monitoring, cluster] = ports.splice(0, 4);
  return { name, client, route, monitoring, cluster };
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
console.log("\nKill one, and watch the boards go on:\n");
for (const node of nodes) {
  const pid = (kind) => running.get(`${kind} ${node.name}`)?.pid;
  console.log(`  server ${node.name}  kill -9 ${pid("groupwire")}     its NATS server  kill -9 ${pid("nats")}`);
}
console.log("\nWhat is killed starts again after 10 s. Ctrl-C stops everything.\n");

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
    listen: node.listen ?? "127.0.0.1:0",
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
      if (!text.includes("\n")) return;
      // It comes back at the same address.
      node.listen = /http:\/\/([^/]+)/.exec(text)?.[1];
      resolve(text.split("\n")[0]);
    });
  });
}

/** Starts a process, whose output on standard error is shown after its name. */
function start(name, program, args, again) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  running.set(name, child);
  child.on("error", (error) => fail(`${name}: ${error.message}`));
  const isShown = name.startsWith("groupwire");
  child.stderr.on("data", (data) => {
    if (isShown) process.stderr.write(String(data).replace(/^(?=.)/gm, `${name}: `));
  });
  child.on("exit", (code, signal) => {
    running.delete(name);
    if (isStopping) return;
    if (signal === null) return fail(`${name} ended with code ${code}`);
    console.log(`${name} was killed; it starts again in 10 s`);
    setTimeout(() => !isStopping && again(), 10_000);
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

/** Ports that nobody uses at this moment. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  const bound = servers.map(
    (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port))),
  );
  const found = await Promise.all(bound);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return found;
}

function fail(why) {
  console.error(`cluster: ${why}`);
  process.exitCode = 1;
  stop();
}

function stop() {
  if (isStopping) return;
  isStopping = true;
  const kinds = ["groupwire", "nats"];
  const end = (kind) => [...running].filter(([name]) => name.startsWith(kind)).map(([, child]) => ended(child));
  // Groupwire hands its rooms over first, for which it needs NATS.
  kinds.reduce((before, kind) => before.then(() => Promise.all(end(kind))), Promise.resolve()).then(() => {
    process.exit(process.exitCode ?? 0);
  });
}

/** Stops a process, and waits until it has ended. */
function ended(child) {
  return new Promise((resolve) => {
    child.on("exit", resolve);
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 5_000).unref();
  });
}
