/** What of the microphone is sent, and when, with an encoder in the place of the browser's. */

import { expect, test } from "vitest";
import type { Codec } from "../../src/voice/codec.js";
import { readFrame } from "../../src/voice/frame.js";
import { Sender } from "../../src/voice/sender.js";
import { tone } from "./world.js";

const SIZE = 20;
const PAYLOAD = new Uint8Array(SIZE).fill(7);

/** A codec whose encoder makes 20 bytes of each frame, at once. */
const CODEC: Codec = {
  encoder: (_, out) => ({
    encode: (of, samples) => out(of, samples ? PAYLOAD : new Uint8Array()),
    bitrate: 0,
    close: () => {},
  }),
  decoder: () => expect.unreachable("a sender decodes nothing"),
};

/** A sender of all frames, and the messages of each call, as the lengths of their sounds. */
function sending(): { sender: Sender; say: () => number[] } {
  const messages: Uint8Array[] = [];
  const send = (message: Uint8Array): "accepted" => (messages.push(message), "accepted");
  const bitrate = [8000, 32_000] as const;
  const failed = (error: unknown): never => expect.unreachable(String(error));
  const sender = new Sender({ bitrate, secret: undefined, codec: () => CODEC, self: () => 1, send, failed });
  sender.mode = "open";
  let at = 0;
  const say = (): number[] => {
    sender.frame(tone(at++) as Float32Array<ArrayBuffer>, false);
    return messages.splice(0).map((message) => readFrame(message)?.payload.length ?? -1);
  };
  return { sender, say };
}

test("each frame is sent at once", () => {
  const { sender, say } = sending();
  for (let i = 0; i < 10; i++) expect(say()).toEqual([SIZE]);
  expect(sender.stats).toMatchObject({ frames: 10, dropped: 0 });
});

test("over a path that carries little two frames share a packet, and the last frame of a sound is sent at once", () => {
  const { sender, say } = sending();
  for (let i = 0; i < 10; i++) sender.follow({ lost: 0.2, roundTrip: 40 });
  expect([say(), say(), say(), say(), say()]).toEqual([[], [SIZE, SIZE], [], [SIZE, SIZE], []]);
  sender.isMuted = true;
  expect(say()).toEqual([SIZE, 0]);
  sender.isMuted = false;
  for (let i = 0; i < 100; i++) sender.follow({ lost: 0, roundTrip: 40 });
  say();
  expect([say(), say()]).toEqual([[SIZE], [SIZE]]);
});
