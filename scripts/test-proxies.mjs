// Tries every transport through real reverse proxies: nginx, HAProxy, Caddy and Traefik with their
// configurations in packaging/proxies, each line of which is also left out once. What works, and
// what fails without a line, stands in docs/deploy/proxies.md.
//
//   node scripts/test-proxies.mjs GROUPWIRE            fails if the page says something else
//   node scripts/test-proxies.mjs GROUPWIRE --write    writes the results into the page
//
// GROUPWIRE_BROWSER names a Chromium. A proxy that is not on the PATH is skipped. `--only NAME`
// tries one of them. Results are kept in .cache/proxies, so that `--only NAME --write` writes those
// of the other proxies, too, as long as their configurations are the same.

import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SelfSigned } from "../web/e2e/certificate.mjs";
import { checks, FULL, PER_ADDRESS, SHORT, staysIdle, survivesReload, withoutUdp } from "../web/e2e/proxies/checks.mjs";
import { configuration, HOST, KINDS, Proxy, removableLines } from "../web/e2e/proxies/kinds.mjs";
import { launchBrowser } from "../web/e2e/proxies/people.mjs";
import { differences, tables, withTables } from "../web/e2e/proxies/tables.mjs";
import { Server } from "../web/e2e/server.mjs";
import { machineHas, VARIABLE } from "./skipped.mjs";
import { freePort } from "./ports.mjs";

const PAGE = fileURLToPath(new URL("../docs/deploy/proxies.md", import.meta.url));

const CACHE = fileURLToPath(new URL("../.cache/proxies", import.meta.url));

/** Longer than anything takes that works, on a busy machine, in milliseconds. */
const PATIENCE_MS = 60_000;

/** The same for lines that are left out: most of what is tried then fails. */
const SHORT_PATIENCE_MS = 20_000;

const [, , binary, ...options] = process.argv;
const only = options.includes("--only") ? options[options.indexOf("--only") + 1] : undefined;
process.env.GROUPWIRE_BINARY = binary;
const kinds = KINDS.filter(({ title }) => !only || title === only).filter(isInstalled);

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

const folder = mkdtempSync(join(tmpdir(), "groupwire-proxies-"));
const certificate = new SelfSigned(`DNS:${HOST}`);
let results;
try {
  results = await tryAll();
} finally {
  certificate.remove();
  rmSync(folder, { recursive: true });
}
const page = readFileSync(PAGE, "utf8");
if (options.includes("--write")) writeFileSync(PAGE, withTables(page, kept()));
else compare(page);

async function tryAll() {
  const [port, admin] = [await freePort(), await freePort()];
  const common = ["--trusted-proxy", "127.0.0.1", "--max-connections-per-address", String(PER_ADDRESS)];
  const server = await Server.start(...common, "--data", join(folder, "rooms"));
  // A client that is told of this UDP port asks the proxy's own port.
  const udp = ["--webtransport", `127.0.0.2:${port}`];
  const atProxy = await Server.start(...common, ...udp);
  const { cert, key } = certificate;
  const place = { port, admin, cert, key, upstream: portOf(server) };
  const browser = await launchBrowser(place);
  try {
    const columns = [];
    for (const kind of kinds) {
      columns.push(await tryKind(kind, browser, place, portOf(atProxy)));
      keep(columns);
    }
    return columns;
  } finally {
    await browser.close();
    await Promise.all([server.kill(), atProxy.kill()]);
  }
}

/** All results of one proxy. */
async function tryKind(kind, browser, place, upstreamWithUdp) {
  say(`${kind.title} ${kind.version()}`);
  const works = await withProxy(kind, place, {}, () =>
    tryChecks({ browser, place, connections: kind.connections, amount: FULL, timeout: PATIENCE_MS }),
  );
  const lowered = await withProxy(kind, place, { isLowered: true }, async (proxy) => ({
    idle: await outcome(() => staysIdle(browser, PATIENCE_MS)),
    reload: await outcome(() => survivesReload(browser, proxy, FULL.names, PATIENCE_MS)),
  }));
  const udp = await withProxy(kind, { ...place, upstream: upstreamWithUdp }, {}, () =>
    withoutUdp(browser, SHORT_PATIENCE_MS),
  );
  say(`  without UDP: ${JSON.stringify(udp)}`);
  const lines = [];
  for (const removed of removableLines(kind)) {
    const fails = await tryVariant(kind, browser, place, { removed }, lowered.reload);
    say(`  without "${removed.line}": ${fails.join(", ") || "NOTHING FAILS"}`);
    lines.push({ ...removed, fails });
  }
  const additions = [];
  for (const added of kind.additions) {
    const failed = await tryVariant(kind, browser, place, { added }, lowered.reload);
    const fails = added.without ? failed.filter((name) => name !== "http2") : failed;
    say(`  with "${added.line}": ${fails.join(", ") || "nothing fails"}`);
    additions.push({ ...added, fails });
  }
  return { title: kind.title, version: kind.version(), works, ...lowered, udp, lines, additions };
}

/**
 * Names of the checks that fail without a line, or with one more. `configuration` stands for a
 * configuration that the proxy refuses, `start` for a proxy that does not listen. `usualReload` is
 * the outcome of a reload of the configuration as it is.
 */
async function tryVariant(kind, browser, place, variant, usualReload) {
  const proxy = new Proxy(kind, place, variant);
  const isAccepted = proxy.isAccepted();
  await proxy.stop();
  if (!isAccepted) return ["configuration"];
  let works;
  try {
    works = await withProxy(kind, place, variant, () =>
      tryChecks({ browser, place, connections: kind.connections, amount: SHORT, timeout: SHORT_PATIENCE_MS }),
    );
  } catch (error) {
    say(`    ${error.message}`);
    return ["start"];
  }
  const failed = Object.keys(works).filter((name) => works[name] !== true);
  if (failed.length > 0) return failed;
  const moved = await withProxy(kind, place, { ...variant, isLowered: true }, (proxy) =>
    outcome(() => survivesReload(browser, proxy, SHORT.names, SHORT_PATIENCE_MS)),
  );
  return moved === usualReload ? [] : ["reload"];
}

/** Runs a proxy while `act` runs, and returns its result. */
async function withProxy(kind, place, variant, act) {
  const proxy = new Proxy(kind, place, variant);
  try {
    await proxy.start(variant.removed || variant.added ? SHORT_PATIENCE_MS : PATIENCE_MS);
    return await act(proxy);
  } finally {
    await proxy.stop();
  }
}

/** The outcome of each check. Many connections at a time come last, as they would slow others. */
async function tryChecks(settings) {
  const { many, webtransport, ...proxied } = checks(settings);
  // WebTransport does not use the proxy, whatever line is left out.
  const others = settings.amount === FULL ? { ...proxied, webtransport } : proxied;
  const names = Object.keys(others);
  const outcomes = await Promise.all(names.map((name) => outcome(others[name], name)));
  const works = Object.fromEntries(names.map((name, i) => [name, outcomes[i]]));
  return { ...works, many: await outcome(many, "many") };
}

/** True, or what the check returns, or the reason of its failure. */
async function outcome(check, name) {
  try {
    return (await check()) ?? true;
  } catch (error) {
    if (name) say(`    ${name}: ${error.message.split("\n")[0]}`);
    else say(`    ${error.stack}`);
    return error.message;
  }
}

function keep(results) {
  mkdirSync(CACHE, { recursive: true });
  for (const result of results) {
    const text = configuration(KINDS.find(({ title }) => title === result.title));
    writeFileSync(join(CACHE, `${result.title}.json`), JSON.stringify({ text, result }));
  }
}

/** The newest results of all proxies whose configuration has not changed since then. */
function kept() {
  return KINDS.flatMap((kind) => {
    const file = join(CACHE, `${kind.title}.json`);
    if (!existsSync(file)) return [];
    const { text, result } = JSON.parse(readFileSync(file, "utf8"));
    const additions = result.additions.filter(({ line }) => kind.additions.some((added) => added.line === line));
    return text === configuration(kind) ? [{ ...result, additions }] : [];
  });
}

function compare(page) {
  if (results.length === 0) return say("none is installed, so nothing was tried");
  const wrong = differences(page, results);
  for (const line of wrong) console.error(`proxies: docs/deploy/proxies.md differs: ${line}`);
  const idle = results.flatMap(({ title, lines }) =>
    lines.filter(({ fails }) => fails.length === 0).map(({ line }) => `${title}: nothing fails without "${line}"`),
  );
  for (const line of idle) console.error(`proxies: ${line}`);
  if (wrong.length + idle.length > 0) process.exit(1);
  console.log(tables(results).join("\n\n"));
}

function isInstalled({ title, program }) {
  if (machineHas(program)) return true;
  console.log(`skipped: ${title} as a proxy: needs ${program}`);
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${title} as a proxy: needs ${program}\n`);
  return false;
}

function portOf({ url }) {
  return Number(new URL(url).port);
}

function say(line) {
  process.stderr.write(`proxies: ${line}\n`);
}
