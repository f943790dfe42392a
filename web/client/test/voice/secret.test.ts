/** Encrypted frames: who can read them, and which are refused. */

import { expect, test } from "vitest";
import { SEALED, writeFrame, readFrame, type Frame, type Header } from "../../src/voice/frame.js";
import { Secret } from "../../src/voice/secret.js";

const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const PAYLOAD = Uint8Array.of(8, 1, 2, 3);
const header = (counter: number): Header => ({
  ...{ level: 20, isVoice: true, sequence: counter & 0xffff, isLast: false, isEncrypted: true },
});

/** A frame as it arrives. */
async function sealed(secret: Secret, counter: number, sender = 7): Promise<Frame> {
  const frame = header(counter);
  const bytes = writeFrame(frame, await secret.seal(frame, counter, sender, PAYLOAD));
  return readFrame(bytes) as Frame;
}

test("whoever has the key reads a frame, and nobody else", async () => {
  const frame = await sealed(new Secret(key(1)), 70_000);
  expect(frame.payload.length).toBe(PAYLOAD.length + SEALED);
  expect(await new Secret(key(1)).open(frame, 7)).toEqual(PAYLOAD);
  expect(await new Secret(key(2)).open(frame, 7)).toBeUndefined();
  const imported = await crypto.subtle.importKey("raw", key(1).slice(), "AES-GCM", false, ["decrypt"]);
  expect(await new Secret(imported).open(frame, 7)).toEqual(PAYLOAD);
});

test("a frame is refused if anything of it is changed, or somebody else is named as its sender", async () => {
  const frame = await sealed(new Secret(key(1)), 5);
  const receiver = new Secret(key(1));
  for (let at = 0; at < frame.payload.length; at++) {
    const payload = frame.payload.slice();
    payload[at] = (payload[at] ?? 0) ^ 1;
    expect(await receiver.open({ ...frame, payload }, 7)).toBeUndefined();
  }
  for (const change of [{ level: 3 }, { sequence: 6 }, { isVoice: false }, { isLast: true }])
    expect(await receiver.open({ ...frame, ...change }, 7)).toBeUndefined();
  for (let length = 0; length < SEALED; length++)
    expect(await receiver.open({ ...frame, payload: frame.payload.subarray(0, length) }, 7)).toBeUndefined();
  expect(await receiver.open(frame, 8)).toBeUndefined();
  expect(await receiver.open(frame, 7)).toEqual(PAYLOAD);
});

test("frames may come in another order, but old ones of a conversation are refused", async () => {
  const [sender, receiver] = [new Secret(key(1)), new Secret(key(1))];
  const old = await sealed(sender, 65_500);
  expect(await receiver.open(await sealed(sender, 65_540), 7)).toEqual(PAYLOAD);
  expect(await receiver.open(old, 7)).toEqual(PAYLOAD);
  expect(await receiver.open(await sealed(sender, 65_600), 7)).toEqual(PAYLOAD);
  expect(await receiver.open(old, 7)).toBeUndefined();
  // The sender joined anew.
  expect(await receiver.open(await sealed(new Secret(key(1)), 3), 7)).toEqual(PAYLOAD);
});

test("no nonce is used twice", async () => {
  const secrets = Array.from({ length: 20 }, () => new Secret(key(1)));
  const frames = await Promise.all(
    secrets.flatMap((secret) => [1, 65_537, 2].map((counter) => sealed(secret, counter))),
  );
  const nonces = frames.map(({ payload, sequence }) => `${payload.subarray(0, 10).join()} ${sequence}`);
  expect(new Set(nonces).size).toBe(60);
});
