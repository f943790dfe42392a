// Speech that espeak-ng makes, for microphones of experiments.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { made, run } from "./tools.mjs";

const SENTENCES = `We moved the blue shapes to the left side of the board this morning. Could you hear me better now?
The second plan costs less, but it needs one more week. I would rather wait than cut the corners twice.
She drew a circle around the old harbour and wrote seven names below it. Nobody else has touched that page.
When the network fails for a moment, please keep talking, and tell me afterwards which words were missing.
Five people joined while we were busy with the budget. Their questions are in the chat, in the order they came.
My microphone is the small one on the desk. Fresh bread smells best before the shop opens, he said with a smile.`;

/** Speech of two voices at this rate, one sentence after the other. */
export function speak(rate) {
  return joined(sentences(rate));
}

/** The same as lists of samples, one for each line of sentences by one voice. */
export function sentences(rate) {
  const voices = ["en-us", "en-gb+f3"];
  return SENTENCES.split("\n").map((line, at) => {
    const wav = join(made, `speech-${at}.wav`);
    run("espeak-ng", ["-v", voices[at % 2], "-s", "160", "-w", wav, line]);
    return samplesOf(readFileSync(wav), rate);
  });
}

/** One list of samples after the other. */
export function joined(parts) {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The samples of a WAV of 16 bits and one channel, at another rate. */
function samplesOf(wav, rate) {
  const from = wav.readUInt32LE(24);
  const data = wav.subarray(44);
  const given = Float32Array.from({ length: data.length >> 1 }, (_, at) => data.readInt16LE(2 * at) / 32_768);
  const length = Math.floor((given.length * rate) / from);
  return Float32Array.from({ length }, (_, at) => {
    const place = (at * from) / rate;
    const [first, share] = [Math.floor(place), place % 1];
    return (given[first] ?? 0) * (1 - share) + (given[first + 1] ?? 0) * share;
  });
}
