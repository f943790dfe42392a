/** A conversation where there is no sound, as in Node: its errors, and what others see of it. */

import { expect, test, vi } from "vitest";
import { awareness, simulate } from "../../src/testing.js";
import { joinVoice, voiceChannel, type VoiceOptions } from "../../src/voice.js";

vi.setConfig({ testTimeout: 120_000 });

const start = () => {
  const net = simulate({ seed: 1, fakeTimers: true });
  const [a, b] = net.join(2);
  return { net, a, b };
};

test("a browser without audio worklets reports one error, and shows the participant as muted to the others", async () => {
  const { net, a, b } = start();
  a.setPresence({ name: "Ada" });
  const voice = joinVoice(a);
  const other = joinVoice(b, { microphone: false });
  const codes: string[] = [];
  voice.on("error", ({ code, fault }) => codes.push(`${code} ${fault}`));
  other.on("error", ({ code }) => codes.push(code));
  await net.settle();
  await net.run(2000);
  expect(codes).toEqual(["no-worklet incompatible", "no-worklet"]);
  expect(voice.state).toMatchObject({ microphone: "failed", speaking: false, error: { code: "no-worklet" } });
  expect(other.state.people).toEqual([{ id: a.self?.id, speaking: false, muted: true, volume: 1 }]);
  expect(b.participants.get(a.self?.id ?? 0)?.presence).toEqual({ name: "Ada", voice: "muted" });
  // What the application sets takes nothing away for long.
  a.setPresence({ name: "Bob" });
  await net.run(2000);
  expect(b.participants.get(a.self?.id ?? 0)?.presence).toEqual({ name: "Bob", voice: "muted" });
  voice.leave();
  await net.run(2000);
  expect(b.participants.get(a.self?.id ?? 0)?.presence).toEqual({ name: "Bob" });
  expect(other.state.people).toEqual([]);
  net.end();
});

test("after `leave` nothing is told any more", async () => {
  const { net, a } = start();
  const voice = joinVoice(a);
  const told: unknown[] = [];
  voice.leave();
  voice.on("error", (error) => told.push(error));
  voice.on("state", (state) => told.push(state));
  await net.settle();
  await net.run(2000);
  expect(told).toEqual([]);
  expect(voice.state.microphone).toBe("off");
  net.end();
});

test("a presence that is no object, or is not to be changed, stays as it is", async () => {
  const { net, a, b } = start();
  a.setPresence("Ada");
  b.setPresence({ name: "Bo" });
  for (const voice of [joinVoice(a), joinVoice(b, { presence: false })]) voice.on("error", () => {});
  await net.settle();
  await net.run(3000);
  expect([a.self?.presence, b.self?.presence]).toEqual(["Ada", { name: "Bo" }]);
  net.end();
});

test("what others say of themselves is checked", async () => {
  const { net, a, b } = start();
  const voice = joinVoice(a, { microphone: false });
  voice.on("error", () => {});
  await net.settle();
  for (const [said, seen] of [
    ["speaking", [{ id: b.self?.id, speaking: true, muted: false, volume: 0.5 }]],
    ["silent", [{ id: b.self?.id, speaking: false, muted: false, volume: 0.5 }]],
    ["shouting", []],
    [{ toString: "muted" }, []],
  ] as const) {
    voice.setVolumeOf(b.self?.id ?? 0, 0.5);
    b.setPresence({ voice: said });
    await net.settle();
    await net.run(500);
    expect(voice.state.people).toEqual(seen);
  }
  net.end();
});

test("messages that are no voice do nothing", async () => {
  const { net, a, b } = start();
  const voice = joinVoice(a);
  voice.on("error", () => {});
  const channel = b.channel("voice", voiceChannel());
  await net.settle();
  for (const message of ["text", new Uint8Array(), new Uint8Array(2000), Uint8Array.of(1, 2, 3, 255)])
    channel.send(message);
  await net.settle();
  expect([...voice.stats.received]).toEqual([]);
  net.end();
});

test("the channel is for voice, unless the application has opened it otherwise", () => {
  const { net, a, b } = start();
  const voice = joinVoice(a);
  voice.on("error", () => {});
  expect(a.channel("voice").qos).toMatchObject({ loss: 0.01, deadline: 180, speakers: 4, overflow: "aggregate" });
  b.channel("talk", awareness({ maxRate: 10 }));
  joinVoice(b, { channel: "talk" }).on("error", () => {});
  expect(b.channel("talk").qos.maxRate).toBe(10);
  net.end();
});

test.each([
  [{ mode: "loud" }, '"loud" is not'],
  [{ volume: 5 }, "`volume` of `joinVoice` must be a number from 0 to 4"],
  [{ bitrate: 8000 }, "must be a list of two numbers"],
  [{ bitrate: [30_000, 20_000] }, "a number from 30000 to 64000"],
  [{ key: new Uint8Array(5) }, "must be 16 or 32 bytes"],
  [{ microfone: true }, 'did you mean "microphone"?'],
])("the options %j are wrong", (options, message) => {
  const { net, a } = start();
  const error = { code: "invalid-argument", message: expect.stringContaining(message) };
  expect(() => joinVoice(a, options as unknown as VoiceOptions)).toThrow(expect.objectContaining(error));
  net.end();
});

test("wrong arguments are told, and a room is needed", () => {
  const { net, a } = start();
  const voice = joinVoice(a);
  voice.on("error", () => {});
  const calls: readonly (() => unknown)[] = [
    () => joinVoice(undefined as never),
    () => voice.mute("yes" as never),
    () => voice.talk(1 as never),
    () => voice.setMode("shout" as never),
    () => voice.setVolume(NaN),
    () => voice.setVolumeOf(0, 1),
    () => voice.setVolumeOf(3, -1),
    () => voice.level(-1),
    () => voice.on("sound" as never, () => {}),
  ];
  for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  net.end();
});
