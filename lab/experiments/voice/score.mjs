// Scores how speech sounds after it has travelled as the experiment `voice` says:
//
//   node lab/experiments/voice/score.mjs ARRIVALS
//
// ARRIVALS is the file of `groupwire-lab voice --arrivals`. Each call gets speech that espeak-ng
// makes, as real Opus of 24 kbit/s. Its frames come at the times in the file, are decoded in the
// order and played by the playout of groupwire/voice itself, and ITU-T P.862.2 (wideband PESQ, 1 to
// 4.6) compares the sound with the speech. Prints a row of JSON for each call, and a table.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const tools = join(root, ".cache/tools/voice");
const made = mkdtempSync(join(tmpdir(), "groupwire-voice-"));

/** The versions of what is installed for this, once. */
const OPUS = "opusscript@0.1.1";
const PYTHON = ["numpy==2.2.6", "pesq==0.0.4"];

/** The bits a second of Opus. */
const BITRATE = 24_000;
/** The samples of a block of an audio device. */
const BLOCK = 128;
/** The length of what is compared at once (s), and how much of it is at least speech. */
const [WINDOW, LEAST] = [8, 0.25];
/** The largest playout delays by transport (people.ts). */
const [DATAGRAMS, STREAM] = [200, 500];

const SENTENCES = `We moved the blue shapes to the left side of the board this morning. Could you hear me better now?
The second plan costs less, but it needs one more week. I would rather wait than cut the corners twice.
She drew a circle around the old harbour and wrote seven names below it. Nobody else has touched that page.
When the network fails for a moment, please keep talking, and tell me afterwards which words were missing.
Five people joined while we were busy with the budget. Their questions are in the chat, in the order they came.
My microphone is the small one on the desk. Fresh bread smells best before the shop opens, he said with a smile.`;

const [file] = process.argv.slice(2);
if (!file)
  fail("usage: node lab/experiments/voice/score.mjs ARRIVALS, the file of groupwire-lab voice --arrivals FILE");

process.on("exit", () => rmSync(made, { recursive: true }));
install();
const { DecodeOrder, FRAME, FRAME_MS, holdFor, LostFrames, lostPacket, RATE, SILENCE, VoicePlayout } =
  await partsOfClient();
const Opus = createRequire(join(tools, "package.json"))("opusscript");
main();

function main() {
  const speech = speak();
  const calls = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows = calls.map(({ network, scheme, frames }, at) => {
    const source = say(frames, speech);
    const { out, stats } = hear(frames, source, scheme);
    const { score, windows } = compare(source, out);
    const row = {
      ...{ experiment: "voice-score", network, scheme, score_name: "pesq-wb", score, windows },
      concealed: stats.concealed / (stats.played + stats.concealed),
      playout_ms: Math.round(stats.delay),
    };
    console.error(`voice: ${at + 1} of ${calls.length}: ${network} ${scheme}: ${score.toFixed(2)}`);
    console.log(JSON.stringify(row));
    return row;
  });
  console.error(`\n${table(rows)}`);
}

/** Installs an Opus for Node, and the Python with PESQ. */
function install() {
  const stamp = join(tools, "stamp");
  const wanted = [OPUS, ...PYTHON].join(" ");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error(`voice: installing ${wanted} (once, some 30 s)`);
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), "{}");
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--prefix", tools, OPUS]);
  run("python3", ["-m", "venv", join(tools, "python")]);
  run(join(tools, "python/bin/pip"), ["install", "--quiet", "--disable-pip-version-check", ...PYTHON]);
  writeFileSync(stamp, wanted);
}

/** The parts of the client that put frames in order and play them, which need no browser. */
async function partsOfClient() {
  const { build } = await import(pathToFileURL(join(root, "web/node_modules/rolldown/dist/index.mjs")).href);
  const entry = join(made, "entry.ts");
  const source = (name) => join(root, "web/client/src/voice", name);
  writeFileSync(
    entry,
    `export { VoicePlayout } from ${JSON.stringify(source("playout.ts"))};
     export { FRAME, FRAME_MS, RATE, SILENCE } from ${JSON.stringify(source("frame.ts"))};
     export { LostFrames, lostPacket } from ${JSON.stringify(source("lost.ts"))};
     export { DecodeOrder, holdFor } from ${JSON.stringify(source("order.ts"))};`,
  );
  const bundle = join(made, "playout.mjs");
  await build({
    input: entry,
    output: { file: bundle },
    logLevel: "silent",
    resolve: { extensionAlias: { ".js": [".ts"] } },
  });
  return import(pathToFileURL(bundle).href);
}

/** Speech of two voices, one sentence after the other. */
function speak() {
  const voices = ["en-us", "en-gb+f3"];
  const parts = SENTENCES.split("\n").map((line, at) => {
    const wav = join(made, `speech-${at}.wav`);
    run("espeak-ng", ["-v", voices[at % 2], "-s", "160", "-w", wav, line]);
    return samplesOf(readFileSync(wav));
  });
  const speech = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    speech.set(part, at);
    at += part.length;
  }
  return speech;
}

/** The samples of a WAV of 16 bits and one channel, at 48 kHz. */
function samplesOf(wav) {
  const from = wav.readUInt32LE(24);
  const data = wav.subarray(44);
  const given = Float32Array.from({ length: data.length >> 1 }, (_, at) => data.readInt16LE(2 * at) / 32_768);
  const length = Math.floor((given.length * RATE) / from);
  return Float32Array.from({ length }, (_, at) => {
    const place = (at * from) / RATE;
    const [first, share] = [Math.floor(place), place % 1];
    return (given[first] ?? 0) * (1 - share) + (given[first + 1] ?? 0) * share;
  });
}

/** The microphone of somebody who talks in these frames, and is silent between them. */
function say(frames, speech) {
  const [[begin], [end]] = [frames[0], frames.at(-1)];
  const sound = new Float32Array((end - begin + 1) * FRAME);
  let at = 0;
  for (const [slot, voice] of frames) {
    if (!voice) continue;
    for (let i = 0; i < FRAME; i++) sound[(slot - begin) * FRAME + i] = speech[(at + i) % speech.length];
    at += FRAME;
  }
  return sound;
}

/** Plays the frames as they came. Returns the sound, and the counts of the playout. */
function hear(frames, sound, scheme) {
  const [begin] = frames[0];
  const encoder = new Opus(RATE, 1, Opus.Application.VOIP);
  encoder.setBitrate(BITRATE);
  const decoder = new Opus(RATE, 1, Opus.Application.VOIP);
  const sent = frames.map(([slot, voice, came], at) => {
    const payload = voice
      ? encoder.encode(bytesOf(sound.subarray((slot - begin) * FRAME).subarray(0, FRAME)), FRAME)
      : undefined;
    const isLast = Boolean(voice) && frames[at + 1]?.[1] !== 1;
    return { sequence: slot & 0xffff, payload, isLast, came };
  });
  const arrivals = sent.filter(({ came }) => came !== null).sort((a, b) => a.came - b.came);
  const playout = new VoicePlayout({ maxDelay: scheme === "websocket" ? STREAM : DATAGRAMS });
  const order = new DecodeOrder();
  const lost = new LostFrames();
  const decode = (ready, now) => {
    for (const { sequence, isLast, payload } of ready) {
      for (const missing of lost.before({ sequence, isLast }))
        playout.made(missing, floatsOf(decoder.decode(lostPacket(payload))));
      playout.push(sequence, floatsOf(decoder.decode(payload)), isLast, now);
    }
  };
  const arrive = ({ sequence, isLast, payload, came }) => {
    if (!payload) {
      decode(order.flush(), came);
      return playout.pause(sequence, SILENCE, came);
    }
    const hold = holdFor(playout.stats.delay);
    const ready = order.push({ sequence, isLast, payload }, hold);
    if (ready) decode(ready, came);
    else playout.missed(sequence, came);
  };
  const out = new Float32Array(sound.length);
  let next = 0;
  for (let at = 0; at + BLOCK <= out.length; at += BLOCK) {
    // A frame is complete 20 ms after its beginning.
    const now = begin * FRAME_MS + (at * 1000) / RATE;
    while (arrivals[next]?.came <= now) arrive(arrivals[next++]);
    playout.pull(out.subarray(at, at + BLOCK), now);
  }
  encoder.delete();
  decoder.delete();
  return { out, stats: playout.stats };
}

/** The mean score of the windows in which enough is said. */
function compare(source, out) {
  const names = ["source", "out"].map((name) => join(made, name));
  [source, out].forEach((sound, at) => writeFileSync(names[at], new Uint8Array(sound.buffer)));
  const program = fileURLToPath(new URL("score.py", import.meta.url));
  return JSON.parse(run(join(tools, "python/bin/python"), [program, ...names, String(WINDOW), String(LEAST)]));
}

function bytesOf(sound) {
  const bytes = Buffer.alloc(sound.length * 2);
  sound.forEach((sample, at) => bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 2 * at));
  return bytes;
}

function floatsOf(bytes) {
  return Float32Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at) / 32_768);
}

function table(rows) {
  const schemes = [...new Set(rows.map(({ scheme }) => scheme))];
  const lines = [...new Set(rows.map(({ network }) => network))].map((network) => {
    const cells = schemes.map((scheme) => {
      const row = rows.find((one) => one.network === network && one.scheme === scheme);
      return row ? `${row.score.toFixed(2)} (${(100 * row.concealed).toFixed(1)} %)` : "";
    });
    return `| ${[network, ...cells].join(" | ")} |`;
  });
  return [`| network | ${schemes.join(" | ")} |`, `| --- |${" --- |".repeat(schemes.length)}`, ...lines].join("\n");
}

function run(program, args) {
  const ran = spawnSync(program, args, { encoding: "utf8" });
  if (ran.error?.code === "ENOENT") fail(`${program} is missing: install it with your system's packages`);
  if (ran.status !== 0) fail(`${program} failed: ${ran.error ?? ran.stderr}`);
  return ran.stdout;
}

function fail(why) {
  console.error(`voice: ${why}`);
  process.exit(1);
}
