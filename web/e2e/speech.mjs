// A file with a sound like speech, for Chromium's fake microphone.

import { writeFileSync } from "node:fs";

const RATE = 48_000;

/**
 * Writes some seconds of speech: syllables of a voice of 140 Hz with the overtones of a vowel, two
 * seconds long, and then a pause of one second. Chromium plays it again and again.
 */
export function writeSpeech(path) {
  writeWav(
    path,
    Float32Array.from({ length: 3 * RATE }, (_, at) => sampleAt(at / RATE)),
  );
}

/** Writes samples (-1 to 1, 48,000 a second) as a WAV file of 16 bits and one channel. */
export function writeWav(path, samples) {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + samples.length * 2, 4);
  bytes.write("WAVEfmt ", 8);
  // PCM of 16 bits, one channel.
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(RATE, 24);
  bytes.writeUInt32LE(RATE * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, at) => bytes.writeInt16LE(Math.round(sample * 32_000), 44 + at * 2));
  writeFileSync(path, bytes);
}

/** The sound at a time in seconds, -1 to 1. */
function sampleAt(time) {
  if (time > 2) return 0;
  // Four syllables a second, each rising and falling, with a pitch that moves.
  const syllable = Math.sin(Math.PI * ((time * 4) % 1)) ** 2;
  const phase = 2 * Math.PI * (140 * time + 4 * Math.sin(2 * Math.PI * time));
  let sum = 0;
  for (let overtone = 1; overtone <= 20; overtone++) {
    const frequency = 140 * overtone;
    // The vowel "a": formants at 700, 1,200 and 2,600 Hz.
    const gain = [700, 1200, 2600].reduce((all, at) => all + 1 / (1 + ((frequency - at) / 150) ** 2), 0.05);
    sum += gain * Math.sin(phase * overtone);
  }
  return (syllable * sum) / 12;
}

/** Flags with which Chromium's microphone plays the file `path`. */
export const fakeMicrophone = (path) => [
  "--use-fake-device-for-media-stream",
  `--use-file-for-fake-audio-capture=${path}`,
];
