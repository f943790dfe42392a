import { deflateRawSync, inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { awareness, transaction, type Channel, type Compress, type Message, type RoomError } from "../src/index.js";
import { CODECS } from "../src/compress.js";
import { dialled, join, settled, type SocketDouble } from "./double.js";
import * as wire from "./wire.js";
import { until } from "./until.js";

const TEXT = JSON.stringify({ line: "to be or not to be ".repeat(20) });
const ZLIB = 2;

async function joined(options = {}, compress?: Compress) {
  const it = join(options);
  const errors: RoomError[] = [];
  it.room.on("error", (error) => errors.push(error));
  const draw = it.room.channel("draw", transaction(compress ? { compress } : {}));
  const socket = await dialled(it);
  socket.serverSends(wire.welcome());
  socket.serverSends(wire.packet(wire.codecs(0, 1, ZLIB), wire.opened(0, 1, "draw", 0), wire.synced()));
  await settled();
  return { ...it, socket, draw, errors };
}

/**
 * The CODECS and COMPRESS frames that the client sent, in order, each as its type and the end of
 * its payload.
 */
function codecFrames(socket: SocketDouble): readonly (readonly [type: number, ...payload: number[]])[] {
  const types: readonly number[] = [wire.CODECS, wire.COMPRESS];
  const found = socket.frames().filter(({ type }) => types.includes(type));
  return found.map(({ type, payload }) => [type, ...payload]);
}

function asked(socket: SocketDouble): number[] {
  return (
    codecFrames(socket)
      .flatMap(([type, ...payload]) => (type === wire.COMPRESS ? [payload] : []))
      .at(-1) ?? []
  );
}

async function becomes(channel: Channel, socket: SocketDouble, coding: readonly number[]): Promise<void> {
  await until(() => asked(socket).join() === coding.join());
  expect(channel.compress).not.toBe("off");
}

test("a module that cannot be loaded is reported, the channel goes on uncompressed, and the next channel tries again", async () => {
  const { draw, errors, socket } = await joined({ codecs: Uint8Array.of(1, 2, 3) }, "zlib");
  await until(() => errors.length > 0);
  expect(errors).toMatchObject([{ code: "no-codecs", fault: "own", fatal: false, channel: "draw" }]);
  expect(errors[0]?.message).toMatch(/could not be loaded .* `options.codecs`/);
  expect(draw.compress).toBe("off");
  draw.send(TEXT);
  await settled();
  const body = socket.frames().find(({ type }) => type === wire.MESSAGES);
  expect(new TextDecoder().decode(body?.payload)).toContain(TEXT);
  const { draw: next, socket: other } = await joined({}, "zlib");
  await becomes(next, other, [1, 3, ZLIB]);
});

test("a codec of the core is requested when the channel is opened, and no module is loaded", async () => {
  const it = join({ codecs: "file:///nowhere" });
  const names: readonly Compress[] = ["template", "off", "none", "lz4"];
  const channels = names.map((compress) => it.room.channel(compress, awareness({ compress })));
  const socket = await dialled(it);
  const opening = wire.frames(socket.packets[0]?.subarray(1) ?? new Uint8Array());
  const ends = opening.filter(({ type }) => type === wire.OPEN).map(({ payload }) => payload);
  expect(ends.map((payload) => payload.at(-1))).toEqual([0, 1, 1, 1]);
  expect([...(ends[3] ?? [])].slice(-2)).toEqual([3, 1]);
  expect(channels.map(({ compress }) => compress)).toEqual(names);
  expect(channels.map(({ qos }) => Object.keys(qos))).toEqual(names.map(() => ["kind"]));
});

test("the module with other codecs is loaded on request, and messages are compressed by it in both directions", async () => {
  const { room, draw, socket } = await joined();
  const got: Message[] = [];
  draw.on("message", (message) => got.push(message));
  expect(draw.compress).toBe("template");
  draw.compress = "zlib";
  expect(draw.compress).toBe("zlib");
  await becomes(draw, socket, [1, 3, ZLIB]);
  // The frame that says which codecs can be read comes first, then the one that requests a codec.
  const [codecs] = codecFrames(socket)
    .filter(([type]) => type === wire.CODECS)
    .slice(-1);
  expect(codecs).toBeDefined();
  draw.send(TEXT);
  await settled();
  const body =
    socket
      .frames()
      .filter(({ type }) => type === wire.MESSAGES)
      .at(-1)?.payload ?? new Uint8Array();
  const packed = body.subarray(body.length - packedLength(body));
  expect(packed[0]).toBe(ZLIB);
  expect(inflateRawSync(packed.subarray(1)).toString()).toBe(TEXT);
  const data = [ZLIB, ...deflateRawSync(TEXT)];
  socket.serverSends(wire.packet(wire.messages({ channel: 1, sender: 5, data, packed: true })));
  expect(got.map(({ data }) => new TextDecoder().decode(data as Uint8Array))).toEqual([TEXT]);
  const stats = room.stats.channels.get("draw");
  const counts = { messages: 1, bytesBefore: TEXT.length, codec: "zlib", codedMessages: 0 };
  expect(stats).toMatchObject({ sent: counts, received: counts });
  expect(stats?.sent.bytesAfter).toBeLessThan(100);
});

test("every codec is found by its name, with level and filter, and an unknown name is explained", async () => {
  const { draw, socket, errors } = await joined();
  for (const [number, name] of [...CODECS.entries()].slice(1)) {
    draw.compress = name;
    await becomes(draw, socket, [1, 3, number]);
  }
  draw.compress = "zlib-9";
  await becomes(draw, socket, [1, 3, ZLIB]);
  draw.compress = "delta1+lz4";
  await becomes(draw, socket, [1, 3, (1 << 5) | 1]);
  expect(errors).toEqual([]);
  for (const wrong of ["zip", "zlib-99", "delta3+lz4"]) {
    draw.compress = wrong as Compress;
    await until(() => draw.compress === "off");
  }
  const wrong = { code: "invalid-compress", fault: "own", fatal: false, channel: "draw" };
  expect(errors).toMatchObject([wrong, wrong, wrong]);
  expect(errors[0]?.message).toMatch(/lz4.*"template"/);
  await settled();
  expect(asked(socket)).toEqual([1, 1]);
});

test("the last setting counts, also before the core is loaded", async () => {
  const it = join();
  const draw = it.room.channel("draw", transaction({ compress: "zlib" }));
  draw.compress = "lz4";
  const socket = await dialled(it);
  const open = wire.frames(socket.packets[0]?.subarray(1) ?? new Uint8Array()).find(({ type }) => type === wire.OPEN);
  expect([...(open?.payload ?? [])].slice(-2)).toEqual([3, 1]);
  await settled();
  expect(draw.compress).toBe("lz4");
});

test("an invalid compressed message is reported as the server's fault", async () => {
  const { draw, socket, errors } = await joined();
  draw.compress = "zlib";
  await becomes(draw, socket, [1, 3, ZLIB]);
  socket.serverSends(wire.packet(wire.messages({ channel: 1, sender: 5, data: [ZLIB, 7, 7, 7], packed: true })));
  expect(errors).toMatchObject([{ fault: "peer", fatal: false }]);
});

/** The length of the only payload in a body of one record, which ends the body. */
function packedLength(body: Uint8Array): number {
  // The record begins with channel, sender, two bytes of flags, gap, age and stamp.
  const at = body.findIndex((byte, i) => i >= 6 && byte === body.length - i - 1);
  return body.length - at - 1;
}
