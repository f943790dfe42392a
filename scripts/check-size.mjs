// Checks the sizes that a browser downloads, compressed as `groupwire serve` and other servers send
// them (compress.mjs). Before the first message: the first part of the core, and the client's
// JavaScript with the core's glue, bundled and minified as an application would do it. Until all of
// the core runs: the second part, too. When a channel asks for a codec that the core lacks: a
// module with most codecs, and one with brotli. Modules that are imported later for other reasons
// do not count. And `groupwire/shared`, `groupwire/motion` and `groupwire/voice` with the code of
// its audio thread, entries of their own, the package `groupwire-yjs` without Yjs, and the bindings
// for user interface frameworks: what they add to an application that has the framework,
// `groupwire`, and `groupwire/store`, of which they are made and which counts by itself. And all of
// `groupwire-widgets` but the inspector and the administration, for an application that has
// `groupwire` and `groupwire/motion`.
//
// Run it after `make web`: node scripts/check-size.mjs

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotli, gzip } from "./compress.mjs";

/**
 * The largest permitted sizes in bytes: what was reached when a limit was set, and some bytes for
 * other compilers. The goals are 85,000 gzipped for the first part, and 205,000 gzipped or 180,000
 * by brotli for both parts, each with the glue, which is 2,000 of `javascript`. Parts of the
 * snapshot cost 2,600 of the first part, which every participant needs as soon as it joins a room
 * whose log is not short; what is pending, and who is away after a restart, cost 1,000,
 * transactions in pieces 1,300, tokens that are renewed 700, and large rooms (counts, pages,
 * messages that wait for their senders) 600, and 140 of `javascript`. Departures (W113) cost 400 of
 * the first part, 200 of the second and 10 of `javascript`. Of `javascript`, 570 are for
 * transactions that wait for their first listener, the room's state as one object, and the second
 * after which a channel is closed: what user interface frameworks need, which mount late and twice.
 * Shorter ways through gmc, which take a fifth less time, cost 1,200 of both parts. Messages to one
 * participant (W114) cost 2,600 of the first part and 170 of `javascript`, goodbyes before a room
 * is joined 80. Stamps that transactions without a deadline do without (W79) cost 120 of both
 * parts. Messages inside of others, which gmc codes by templates of their own, and datagrams that
 * were dropped before they left cost 8,300 of both parts, nearly all of it the former; the goal was
 * 5,000. WebKit, which begins with WebSocket, costs 50 of `javascript`, to learn that the server
 * refuses the page 100, and to come back soon after a change of address 130. What a path cannot
 * hold, told within three seconds, and signs of life in datagrams on bad paths cost 280 of both
 * parts, and steps of doubles in binary formats 190. That every snapshot of a model can be read,
 * whatever templates it has lost, and is bounded, costs 700. A path that counts as narrow for a
 * while, idle channels that take no rate, bounded traces and fewer instructions in gmc cost 460.
 * That what a session missed in a break is no late-joiner state costs 30 by brotli. Repeats that
 * are more careful for channels that permit few misses cost 70, and further copies in bursts and
 * rarer reports 260. Channels of sound (W119), whose frames afec repeats whole and never holds
 * back, cost 180 of the first part. The goal of `shared` is 6,000; operations that do not fit into
 * one message, and what applications with live messages of their own need (whose operation came,
 * the author of an action), cost 200, and to tell that the state became incomplete or was restored
 * 50. That no number, place, id or nesting of a hostile program breaks the data for the others
 * costs 1,020: room in lists, ids that somebody else uses, and checks of values, counters and
 * states. The goal of `voice` is 12,000, of which 2,500 run in the audio thread. The goal of
 * `motion` is 4,000, which `follow` alone keeps with 3,500. Actions that cannot be applied, and
 * keys that give way to newer ones, cost 90. The goal of `react` is 3,000 and of the other bindings
 * 1,000. The goal of `widgets` is 12,000; it has all elements, their styles (2,500) and texts,
 * without what a page loads only if it wants it: messages at the pointer, traces, and who is idle.
 * A page that takes single elements loads less: the cursors alone are 5,800. Attributes with times
 * that no timer can wait cost 10, and the badge and the words by which an AI agent is recognised
 * 220. The goal of `yjs` is 4,000: what brings a document back after a loss of the room or of its
 * history is 1,600 of it, and the pieces of large updates in rooms in memory are 900, which the
 * core could save if it cut transactions there, too (W97).
 *
 * Checks of arguments, with errors that say which one is wrong and what is right, cost 1,100 of
 * `javascript`, values that JSON cannot carry and ill-formed text 550, options of a channel that is
 * opened again 300, `once`, `off` and other names of `leave` 200, and errors of the core in one
 * class 200. `shared`, `motion` and `store` count 1,300 of it, which an application has from
 * `groupwire` already. Why a room has no connection, and fewer requests while nothing answers, cost
 * 1,000 of `javascript` and 100 of `widgets`. Options that the core reads by their types,
 * transactions that wait for a part of the snapshot, and bytes of payloads cost 140 of both parts;
 * by brotli the sum differs by some 200 from build to build. To move to the server that has the
 * room (W117) costs 240 of the first part and 180 of `javascript`. Random identifiers at what they
 * hold, and ages of datagrams by the sender's clock, cost 2,500 of both parts, to check `speakers`
 * 20 of `javascript`, and to leave a document behind that was emptied 100 of `yjs`. Joins over bad
 * paths (W120) cost 410 of the first part, and with runs of losses that chance does not lengthen
 * and requests of sound that go twice 880 of both parts.
 */
export const LIMITS = {
  "first part, gzip": 85_980,
  "both parts, gzip": 218_180,
  "both parts, brotli": 199_070,
  "javascript, gzip": 18_260,
  "shared, gzip": 10_500,
  "motion, gzip": 6_900,
  "store, gzip": 4_690,
  "voice, gzip": 12_000,
  "opus, gzip": 183_000,
  "react, gzip": 1_750,
  "vue, gzip": 520,
  "svelte, gzip": 470,
  "solid, gzip": 550,
  "yjs, gzip": 6_160,
  "widgets, gzip": 14_900,
  "gw-voice, gzip": 5_800,
  "codecs, gzip": 129_900,
  "brotli, gzip": 540_500,
};

const root = fileURLToPath(new URL("..", import.meta.url));
/** The bindings, each with the packages that the application has anyway. */
const BINDINGS = ["react", "vue", "svelte", "solid"];
const PRESENT = /^(groupwire(\/.*)?|react|vue|solid-js|svelte(\/reactivity)?)$/;
const binding = (name) => `${root}web/${name}/dist/index.js`;
const GROUPWIRE = /^groupwire(\/|$)/;
const YJS = /^(groupwire$|yjs$|y-protocols\/|lib0\/)/;
const entry = (name) => `${root}web/client/dist/${name}.js`;
const GLUE = "groupwire_wasm.js";
/** What voice loads in browsers without WebCodecs. */
const OPUS = "opus-bundle.js";
const wasm = (name) => readFileSync(`${root}web/client/wasm/groupwire_wasm_${name}.wasm`);

/** A line of text for each size, and whether all sizes keep their limits. */
export function judge(sizes, limits = LIMITS) {
  const names = Object.keys(limits);
  const lines = names.map((name) => {
    const verdict = sizes[name] <= limits[name] ? "at most" : "TOO LARGE, at most";
    return `size: ${name}: ${sizes[name]} bytes, ${verdict} ${limits[name]}`;
  });
  return { lines, keeps: names.every((name) => sizes[name] <= limits[name]) };
}

/**
 * The chunks that are loaded before the first message: the entry, the glue, and their static
 * imports.
 */
export function loadedFirst(chunks) {
  const holdsGlue = (chunk) => holds(chunk, GLUE);
  if (!chunks.some(holdsGlue)) throw new Error(`no chunk holds ${GLUE}`);
  return withImports(chunks, (chunk) => chunk.isEntry || holdsGlue(chunk));
}

/** The chunks that are loaded where the browser has WebCodecs. */
export function withoutOpus(chunks) {
  return chunks.filter((chunk) => !holds(chunk, OPUS));
}

/** Whether a chunk has the module of a file of this name. */
function holds({ moduleIds }, name) {
  return moduleIds.some((id) => basename(id) === name);
}

/** Some chunks, and their static imports: what is imported later is not among them. */
export function withImports(chunks, isFirst) {
  const first = new Set();
  const add = (chunk) => {
    if (!chunk || first.has(chunk)) return;
    first.add(chunk);
    chunk.imports.forEach((name) => add(chunks.find(({ fileName }) => fileName === name)));
  };
  chunks.filter(isFirst).forEach(add);
  return [...first];
}

/** The chunks of a module as an application would load them, minified. */
export async function bundle(input, external = []) {
  // Rolldown, the bundler that Vite depends on.
  const require = createRequire(createRequire(`${root}web/package.json`).resolve("vite"));
  const { build } = await import(pathToFileURL(require.resolve("rolldown")));
  const { output } = await build({
    input,
    external,
    output: { format: "esm", minify: true },
    write: false,
    logLevel: "silent",
  });
  return output.filter(({ type }) => type === "chunk");
}

async function main() {
  const sum = (sizes) => sizes.reduce((all, size) => all + size, 0);
  const zipped = ({ code }) => gzip(Buffer.from(code)).length;
  const first = gzip(wasm("first")).length;
  const parts = ["first", "second"].map(wasm);
  const widgets = await bundle(`${root}web/widgets/dist/index.js`, GROUPWIRE);
  const voice = await bundle(entry("voice"));
  const bindings = [];
  for (const name of BINDINGS) {
    bindings.push([`${name}, gzip`, sum((await bundle(binding(name), PRESENT)).map(zipped))]);
  }
  const { lines, keeps } = judge({
    "first part, gzip": first,
    "both parts, gzip": sum(parts.map((part) => gzip(part).length)),
    "both parts, brotli": sum(parts.map((part) => brotli(part).length)),
    "javascript, gzip": sum(loadedFirst(await bundle(entry("index"))).map(zipped)),
    "shared, gzip": sum((await bundle(entry("shared"))).map(zipped)),
    "motion, gzip": sum((await bundle(entry("motion"))).map(zipped)),
    "store, gzip": sum((await bundle(entry("store"), /^groupwire$/)).map(zipped)),
    "voice, gzip": sum(withoutOpus(voice).map(zipped)),
    "opus, gzip": sum(voice.filter((chunk) => holds(chunk, OPUS)).map(zipped)),
    ...Object.fromEntries(bindings),
    "yjs, gzip": sum((await bundle(`${root}web/yjs/dist/index.js`, YJS)).map(zipped)),
    "widgets, gzip": sum(withImports(widgets, ({ isEntry }) => isEntry).map(zipped)),
    "gw-voice, gzip": sum((await bundle(`${root}web/widgets/dist/voice.js`, GROUPWIRE)).map(zipped)),
    "codecs, gzip": gzip(wasm("codecs_bg")).length,
    "brotli, gzip": gzip(wasm("brotli_bg")).length,
  });
  for (const line of lines) console.log(line);
  if (!keeps) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
