// Measures voice between two windows of a real browser, with a microphone that plays speech, over a
// real server and an emulated network (lab/README.md). Prints a row of JSON for each call, and a
// table:
//
//   groupwire-lab emulate -- node lab/experiments/voice/windows.mjs [--network NAME] [--scheme NAME] [--seconds N]
//
// Both windows speak and listen. What the microphone gives a page, and what the other page plays,
// is recorded within the pages.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { servePages } from "../../../web/e2e/pages.mjs";
import { fakeMicrophone, writeWav } from "../../../web/e2e/speech.mjs";
import { pause, until } from "../../../web/e2e/wait.mjs";
import { closeAll, launch, Window } from "../../../web/e2e/window.mjs";
import { Network } from "../../motion/windows/network.mjs";
import { compare } from "./compare.mjs";
import { joined, sentences } from "./speech.mjs";
import { install, made } from "./tools.mjs";

/** Samples per second of all sounds. */
const RATE = 48_000;
/** What is between two sentences, in seconds. */
const PAUSES = [1.2, 0.6, 1.8, 1, 1.5];
/** From the first sound to the first one that counts, in ms: the playout has found its delay. */
const SETTLING = 8000;
/** What devices add to a delay, as in the experiment without a browser, in ms. */
const DEVICES = 20;

/** The paths of both people, in each direction. */
const HOP = { delay: 12.5, loss: "rand0" };
const NETWORKS = {
  rand0: HOP,
  ...Object.fromEntries(["rand5", "rand10", "rand20", "pb10@4"].map((loss) => [loss, { ...HOP, loss }])),
  modem40: { ...HOP, kbit: 40, queue: 300 },
  jitter50: { ...HOP, jitter: 25 },
};

/** The bits a second of Opus, always the same so that bytes can be compared. */
const FIXED = [24_000, 24_000];
/** How frames are sent: what the page is told, and the options of voice. */
const SCHEMES = {
  groupwire: { bitrate: FIXED },
  /** As users get it: the bit rate follows the path. */
  "groupwire-adaptive": {},
  plain: { scheme: "plain", bitrate: FIXED },
  red: { scheme: "red", bitrate: FIXED },
  websocket: { transports: "websocket", bitrate: FIXED },
};

const { values: options } = parseArgs({
  options: {
    network: { type: "string", multiple: true, default: Object.keys(NETWORKS) },
    scheme: { type: "string", multiple: true, default: Object.keys(SCHEMES) },
    seconds: { type: "string", default: "60" },
  },
});
for (const name of options.network) if (!NETWORKS[name]) throw new Error(`no such network: ${name}`);
for (const name of options.scheme) if (!SCHEMES[name]) throw new Error(`no such scheme: ${name}`);

install();
const microphone = join(made, "microphone.wav");
writeWav(microphone, speechWithPauses());
const pages = await servePages(fileURLToPath(new URL("../../../web/e2e/voice/", import.meta.url)));
const network = await Network.start(new URL(pages.address).origin);
const browser = await launch(
  ...fakeMicrophone(microphone),
  "--use-fake-ui-for-media-stream",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
);
const rows = [];
try {
  const calls = options.network.flatMap((name) => options.scheme.map((scheme) => ({ name, scheme })));
  for (const { name, scheme } of calls) {
    const row = await call(name, scheme);
    rows.push(row);
    console.log(JSON.stringify(row));
    console.error(`voice: ${rows.length} of ${calls.length}: ${name} ${scheme}: ${row.score?.toFixed(2)}`);
  }
} finally {
  await browser.close();
  await pages.close();
  network.stop();
}
console.error(`\n${table()}`);

function speechWithPauses() {
  const silence = (at) => new Float32Array(PAUSES[at % PAUSES.length] * RATE);
  return joined(sentences(RATE).flatMap((sentence, at) => [sentence, silence(at)]));
}

async function call(name, scheme) {
  const windows = [];
  await bothPaths(HOP);
  for (const [client, person] of ["Ada", "Bo"].entries())
    windows.push(await open(`${name} ${scheme}`, { client, person, ...SCHEMES[scheme] }));
  for (const window of windows) await until("a voice", async () => (await received(window))?.played > 50, 60_000);
  await bothPaths(NETWORKS[name]);
  await pause(SETTLING);
  // The same again, so that bytes count from now on.
  await bothPaths(NETWORKS[name]);
  const before = await Promise.all(windows.map(begin));
  await pause(1000 * Number(options.seconds));
  const counts = await Promise.all([0, 1].map((client) => network.count(client)));
  const after = await Promise.all(windows.map(end));
  await closeAll(windows);
  const heard = [judge(after[0].spoken, after[1].played), judge(after[1].spoken, after[0].played)];
  const frames = before.map((one, at) => differences(one.received, after[at].received));
  return rowOf({ name, scheme, heard, frames, counts, after });
}

function bothPaths(path) {
  return Promise.all([0, 1].map((client) => network.path(client, path)));
}

async function open(room, { client, person, scheme, transports = "webtransport", bitrate }) {
  // What noise suppression and echo cancellation change is no matter of the network.
  const settings = { bitrate, echoCancellation: false, noiseSuppression: false };
  const query = new URLSearchParams({ server: network.server(client), room, name: person, record: "", transports });
  query.set("options", JSON.stringify(settings));
  if (scheme) query.set("scheme", scheme);
  const window = new Window("seen");
  return window.open(browser, `${pages.address}?${query}`, person);
}

/** What a page received of the other one. */
function received({ page }) {
  return page.evaluate(() => [...window.seen.voice.stats.received.values()][0]);
}

async function begin(window) {
  await window.page.evaluate(() => Object.values(window.seen.records).forEach((recorder) => recorder.clear()));
  return { received: await received(window) };
}

async function end(window) {
  const { spoken, played, bitrate } = await window.page.evaluate(() => ({
    spoken: window.seen.records.spoken.recording,
    played: window.seen.records.played.recording,
    bitrate: window.seen.voice.stats.sent.bitrate,
  }));
  return { received: await received(window), spoken, played, bitrate };
}

function differences(before, after) {
  return Object.fromEntries(["played", "concealed", "late"].map((name) => [name, after[name] - before[name]]));
}

/** Compares one person's microphone with what the other one heard. */
function judge(spoken, played) {
  const [source, out] = [spoken, played].map(timed);
  const start = Math.max(source.start, out.start);
  const [said, heard] = [source, out].map(({ samples, start: from }) => without(samples, start - from));
  return { ...compare(said, heard, { lags: true }), slip: Math.max(source.slip, out.slip) };
}

function without(samples, ms) {
  return samples.slice(Math.round((ms * RATE) / 1000));
}

/**
 * A recording with its start in ms since 1970, and by how much the clock of sound slipped in it:
 * devices of a busy machine stop for a moment.
 */
function timed({ rate, start, clocks, samples }) {
  if (rate !== RATE) throw new Error(`the browser records ${rate} samples a second, not ${RATE}`);
  const bytes = Buffer.from(samples, "base64");
  const values = Float32Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at) / 32_768);
  // The page reads a clock of sound that is behind by up to a buffer: the least lag is the truth.
  const offsets = [];
  for (let at = 0; at + 40 <= clocks.length; at += 40)
    offsets.push(Math.min(...clocks.slice(at, at + 40).map(([sound, time]) => time - sound)));
  offsets.sort((a, b) => a - b);
  const offset = offsets[offsets.length >> 1];
  return { start: start + offset, samples: values, slip: offsets.at(-1) - offsets[0] };
}

function rowOf({ name, scheme, heard, frames, counts, after }) {
  const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
  const lags = heard.flatMap((one) => one.lags).sort((a, b) => a - b);
  const quantile = (share) => (lags.length ? Math.round(lags[Math.floor(share * (lags.length - 1))] + DEVICES) : null);
  const [played, concealed] = ["played", "concealed"].map((field) => sum(frames, (one) => one[field]));
  const windows = sum(heard, (one) => one.windows);
  return {
    ...{ experiment: "voice", part: "windows", network: name, scheme, seconds: Number(options.seconds) },
    ...{ frames: played + concealed, missed: concealed / (played + concealed) },
    ...{ delay_p50_ms: quantile(0.5), delay_p99_ms: quantile(0.99), lags: lags.length },
    ...{ score_name: "pesq-wb", score: sum(heard, (one) => one.windows * one.score) / windows, windows },
    kbit: (sum(counts, ({ up, down }) => up + down) * 8) / 2 / 1000 / Number(options.seconds),
    bitrate: sum(after, (one) => one.bitrate) / 2,
    playout_ms: Math.round(sum(after, (one) => one.received.delay) / 2),
    clock_slip_ms: Math.round(Math.max(...heard.map(({ slip }) => slip))),
    browser: `chromium ${browser.version()}`,
  };
}

function table() {
  const head = ["network", "scheme", "missed", "p50, ms", "p99, ms", "score", "kbit/s", "slip, ms"];
  const lines = rows.map((row) => [
    ...[row.network, row.scheme, `${(100 * row.missed).toFixed(1)} %`, row.delay_p50_ms, row.delay_p99_ms],
    ...[row.score.toFixed(2), row.kbit.toFixed(1), row.clock_slip_ms],
  ]);
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
