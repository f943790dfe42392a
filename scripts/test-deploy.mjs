// Tries what the guides in docs/deploy tell operators to do, as far as a machine without Docker,
// Kubernetes and an account at a platform can: the unit of systemd, the files for Docker Compose,
// configuration files in the pages, and the command for platforms with one port, which runs.
//
//   node scripts/test-deploy.mjs GROUPWIRE

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { connect, transaction } from "../web/client/dist/node.js";
import { until } from "../web/e2e/wait.mjs";
import { machineHas, VARIABLE } from "./skipped.mjs";
import { freePort } from "./ports.mjs";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { parse } = require("yaml");
const { default: Ajv } = require("ajv");
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGING = join(ROOT, "packaging");
const GUIDES = join(ROOT, "docs/deploy");
const binary = resolve(process.argv[2] ?? process.env.GROUPWIRE_BINARY);

/** The variables that the files for Compose ask for. */
const COMPOSE = { DOMAIN: "rooms.example.org", ORIGIN: "https://app.example.org" };

const folder = mkdtempSync(join(tmpdir(), "groupwire-deploy-"));
const children = [];
after(() => {
  children.forEach((child) => child.kill("SIGKILL"));
  rmSync(folder, { recursive: true });
});

test("systemd finds nothing to mend in the unit, alone and in a cluster", needs("systemd-analyze"), () => {
  const unit = join(folder, "groupwire.service");
  const text = readFileSync(join(PACKAGING, "systemd/groupwire.service"), "utf8");
  // The program has to exist.
  writeFileSync(unit, text.replaceAll("/usr/local/bin/groupwire", binary));
  const alone = run("systemd-analyze", ["verify", unit]);
  assert.deepEqual([alone.status, alone.text], [0, ""]);
  mkdirSync(`${unit}.d`);
  copyFileSync(join(PACKAGING, "systemd/groupwire-cluster.conf"), join(`${unit}.d`, "cluster.conf"));
  const inCluster = run("systemd-analyze", ["verify", unit]);
  assert.deepEqual([inCluster.status, inCluster.text], [0, ""]);
});

test("systemd makes the user of the unit", needs("systemd-sysusers"), () => {
  const root = join(folder, "users");
  mkdirSync(join(root, "etc"), { recursive: true });
  const made = run("systemd-sysusers", [`--root=${root}`, join(PACKAGING, "systemd/groupwire.sysusers")]);
  assert.equal(made.status, 0, made.text);
  assert.match(readFileSync(join(root, "etc/passwd"), "utf8"), /^groupwire:.*nologin$/m);
});

for (const page of readdirSync(GUIDES)) {
  const markdown = readFileSync(join(GUIDES, page), "utf8");
  const files = [...markdown.matchAll(/```toml\n(# groupwire\.toml[\s\S]*?)```/g)].map(([, file]) => file);
  for (const [i, file] of files.entries()) {
    test(`${page}: the server accepts configuration ${i + 1}`, () => {
      const path = join(folder, "groupwire.toml");
      writeFileSync(path, file, { mode: 0o600 });
      const checked = run(binary, ["config", "check", path]);
      assert.equal(checked.status, 0, checked.text);
    });
  }
}

test("kubernetes.md: the chart's schema accepts the values, and would refuse them without an engine", () => {
  const chart = join(PACKAGING, "helm/groupwire");
  const isValid = new Ajv({ strict: false }).compile(
    JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8")),
  );
  const markdown = readFileSync(join(GUIDES, "kubernetes.md"), "utf8");
  const [, text] = /```yaml\n([\s\S]*?)```/.exec(markdown);
  const merged = (from, values) =>
    Object.entries(values).reduce((all, [name, value]) => {
      const isMap = value && typeof value === "object" && !Array.isArray(value);
      return { ...all, [name]: isMap ? merged(all[name] ?? {}, value) : value };
    }, from);
  const defaults = parse(readFileSync(join(chart, "values.yaml"), "utf8"));
  assert.ok(isValid(merged(defaults, parse(text))), JSON.stringify(isValid.errors));
  assert.ok(!isValid(merged(defaults, { ...parse(text), engine: {} })));
});

const parser = run(join(ROOT, "scripts/compose.sh"), []).output.trim();
if (!parser) skip("files for Docker Compose", "go");
for (const file of readdirSync(join(PACKAGING, "compose"))) {
  test(`compose: the parser of Docker Compose accepts ${file}`, { skip: !parser && "needs go" }, () => {
    // This program of the parser's authors does not replace required variables.
    const text = readFileSync(join(PACKAGING, "compose", file), "utf8");
    const path = join(folder, file);
    writeFileSync(
      path,
      text.replace(/\$\{(\w+):\?[^}]*\}/g, (_, name) => COMPOSE[name]),
    );
    const read = run(parser, [path]);
    assert.equal(read.status, 0, read.text);
    const { services, configs = {} } = parse(read.output);
    const caddyfiles = Object.values(configs).filter(({ content }) => content?.includes("reverse_proxy"));
    for (const { content } of caddyfiles) checkCaddyfile(content);
    const servers = Object.entries(services).filter(([name]) => name.startsWith("groupwire"));
    assert.ok(servers.length > 0);
    for (const [, server] of servers) checkServer(server);
  });
}

/** Caddy accepts the configuration, if it is installed. */
function checkCaddyfile(content) {
  if (!machineHas("caddy")) return skip("the Caddyfile in a file for Docker Compose", "caddy");
  const path = join(folder, "Caddyfile");
  // Two dollar signs stand for one.
  writeFileSync(path, content.replaceAll("$$", "$"));
  const own = { DOMAIN: COMPOSE.DOMAIN, ADDRESS: COMPOSE.DOMAIN, HOME: folder };
  const adapted = run("caddy", ["adapt", "--config", path, "--adapter", "caddyfile"], { ...process.env, ...own });
  assert.equal(adapted.status, 0, adapted.text);
  assert.match(adapted.output, /"handler":"reverse_proxy"/);
  assert.match(adapted.output, new RegExp(COMPOSE.DOMAIN));
}

/** The server accepts the options, and clients are told the number of the port that is open. */
function checkServer({ environment, ports = [], volumes, stop_grace_period }) {
  const path = join(folder, "empty.toml");
  writeFileSync(path, `data = "${folder}/rooms"\n`);
  const checked = run(binary, ["config", "check", path], { ...process.env, ...environment });
  assert.equal(checked.status, 0, checked.text);
  for (const { published, target } of ports) assert.equal(Number(published), target);
  const isOpen = ports.some(({ protocol }) => protocol === "udp");
  assert.equal(isOpen, environment.GROUPWIRE_NO_WEBTRANSPORT !== "true");
  assert.equal(volumes[0].target, "/var/lib/groupwire");
  assert.equal(stop_grace_period, "60s");
}

const [, COMMAND] = /^web: (.*)$/m.exec(readFileSync(join(PACKAGING, "platforms/Procfile"), "utf8"));

/** An instance at a platform, which runs the command with a port and a volume. */
class Instance {
  said = "";

  constructor(port) {
    // The binary may have another name.
    const programs = mkdtempSync(join(folder, "bin-"));
    symlinkSync(binary, join(programs, "groupwire"));
    const own = { PATH: `${programs}:${process.env.PATH}`, PORT: String(port) };
    const options = { GROUPWIRE_DATA: join(folder, "volume"), GROUPWIRE_TRUSTED_PROXY: "127.0.0.0/8" };
    this.url = `http://127.0.0.1:${port}`;
    this.child = spawn("sh", ["-c", COMMAND], { cwd: folder, env: { ...process.env, ...own, ...options } });
    children.push(this.child);
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (data) => (this.said += data));
    this.ended = once(this.child, "exit");
  }

  async isReady() {
    const asks = () =>
      fetch(`${this.url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false);
    await until("the instance is ready", asks).catch((error) => {
      throw new Error(`${error.message}\n${this.said}`);
    });
    return this;
  }

  stop(signal) {
    this.child.kill(signal);
    return this.ended;
  }
}

test("a platform's command serves the port that PORT names, and ends when it is told to", async () => {
  for (const signal of ["SIGTERM", "SIGINT"]) {
    const instance = await new Instance(await freePort()).isReady();
    const { transports } = await (await fetch(`${instance.url}/transports`)).json();
    assert.ok(!transports.includes("webtransport") && transports.includes("websocket"), transports.join());
    // The shell has become the server, so that it gets the signal.
    assert.deepEqual(await instance.stop(signal), [0, null]);
  }
});

test("rooms on a platform's volume outlive an instance that sleeps, and no other instance uses it", async () => {
  const port = await freePort();
  const first = await new Instance(port).isReady();
  const ada = joined(first.url);
  await ada.draw.flushed("before");
  const other = new Instance(await freePort());
  assert.deepEqual(await other.ended, [1, null]);
  assert.match(other.said, /is in use by process/);
  await first.stop("SIGTERM");
  const second = await new Instance(port).isReady();
  await ada.draw.flushed("after");
  const bo = joined(second.url);
  await until("the content", () => bo.texts.length === 2);
  assert.deepEqual(bo.texts, ["before", "after"]);
  for (const { room } of [ada, bo]) room.leave();
  await second.stop("SIGTERM");
});

/** A participant; `draw.flushed` sends a text and waits until it is in the room's order. */
function joined(url) {
  const room = connect(url, "demo");
  const channel = room.channel("draw", transaction());
  const texts = [];
  channel.on("message", ({ data }) => texts.push(data));
  const flushed = (text) => {
    channel.send(text);
    return until(`${text} is in the room`, () => texts.includes(text));
  };
  return { room, texts, draw: { flushed } };
}

function run(program, options, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(program, options, { env, encoding: "utf8", cwd: folder });
  if (error) throw error;
  return { status, output: stdout, text: stdout + stderr };
}

function needs(program) {
  if (machineHas(program)) return {};
  skip("the guide for systemd", program);
  return { skip: `needs ${program}` };
}

function skip(what, need) {
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${what}: needs ${need}\n`);
}
