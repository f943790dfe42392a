// Scores how speech sounds after it has travelled as the experiment `voice` says:
//
//   node lab/experiments/voice/score.mjs ARRIVALS
//
// ARRIVALS is the file of `groupwire-lab voice --arrivals`. Each call gets speech that espeak-ng
// makes, as real Opus of 24 kbit/s. Its frames come at the times in the file, are decoded in the
// order and played by the playout of groupwire/voice itself, and ITU-T P.862.2 (wideband PESQ, 1 to
// 4.6) compares the sound with the speech. Prints a row of JSON for each call, and a table.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compare } from "./compare.mjs";
import { speak } from "./speech.mjs";
import { fail, install, made, root, tools } from "./tools.mjs";

/** The bits a second of Opus. */
const BITRATE = 24_000;
/** The samples of a block of an audio device. */
const BLOCK = 128;
/** The largest playout delays by transport (people.ts). */
const [DATAGRAMS, STREAM] = [200, 500];

const [file] = process.argv.slice(2);
if (!file)
  fail("usage: node lab/experiments/voice/score.mjs ARRIVALS, the file of groupwire-lab voice --arrivals FILE");

install();
const { DecodeOrder, FRAME, FRAME_MS, holdFor, LostFrames, lostPacket, RATE, SILENCE, VoicePlayout } =
  await partsOfClient();
const Opus = createRequire(join(tools, "package.json"))("opusscript");
main();

function main() {
  const speech = speak(RATE);
  const calls = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows = calls.map(({ network, scheme, frames }, at) => {
    const source = say(frames, speech);
    const { out, stats } = hear(frames, source, scheme);
    const { score, windows } = compare(source, out, { lags: false });
    const row = {
      ...{ experiment: "voice", part: "score", network, scheme, score_name: "pesq-wb", score, windows },
      concealed: stats.concealed / (stats.played + stats.concealed),
      playout_ms: Math.round(stats.delay),
    };
    console.error(`voice: ${at + 1} of ${calls.length}: ${network} ${scheme}: ${score.toFixed(2)}`);
    console.log(JSON.stringify(row));
    return row;
  });
  console.error(`\n${table(rows)}`);
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
