import { describe, expect, test, vi } from "vitest";
import { readPreamble } from "../src/transport/down.js";
import { Bytes, framed, PacketReader, varint } from "../src/transport/framing.js";
import { fromBase64 } from "../src/transport/iframe.js";
import { PartReader } from "../src/transport/multipart.js";
import { readOffer } from "../src/transport/offer.js";
import { readAnswer } from "../src/transport/polling.js";
import { pieces, randomOf } from "./random.js";

const ID = "0123456789abcdef0123456789abcdef";
const TYPE = "multipart/mixed; boundary=cut";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Packets of many sizes, some with bytes that look like delimiters. */
function packetsOf(random: (below: number) => number): Uint8Array[] {
  return Array.from({ length: random(12) }, () => {
    const length = random(3) === 0 ? random(3000) : random(40);
    const text = bytes("\r\n--cut\r\nContent-Length: 1\r\n\r\n");
    return Uint8Array.from({ length }, (_, i) => (random(2) ? (text[i % text.length] ?? 0) : random(256)));
  });
}

function readAll(reader: { next(): Uint8Array | undefined }): Uint8Array[] {
  const all: Uint8Array[] = [];
  for (let next = reader.next(); next; next = reader.next()) all.push(next);
  return all;
}

describe("T1: packets preceded by their length", () => {
  test.each([0, 1, 127, 128, 16_383, 16_384, 65_536, 2 ** 35])("%d as a varint", (value) => {
    const reader = new Bytes();
    reader.add(Uint8Array.from(varint(value)));
    expect(reader.varint()).toBe(value);
    expect(reader.length).toBe(0);
  });

  test("are read unchanged, wherever the stream is cut", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = randomOf(seed);
      const packets = packetsOf(random);
      const reader = new PacketReader();
      const got: Uint8Array[] = [];
      for (const piece of pieces(framed([], packets), random)) {
        reader.bytes.add(piece);
        got.push(...readAll(reader));
      }
      expect(got, `seed ${seed}`).toEqual(packets);
      expect(reader.isWithin).toBe(false);
    }
  });

  test("a length above the limit is an error before the packet is read", () => {
    const reader = new PacketReader();
    reader.bytes.add(Uint8Array.from(varint(65_537)));
    expect(() => reader.next()).toThrow("65537");
  });

  test("a packet that was returned is not overwritten", () => {
    const reader = new PacketReader();
    const chunk = Uint8Array.of(2, 1, 2);
    reader.bytes.add(chunk);
    const packet = reader.next();
    chunk.fill(9);
    reader.bytes.add(Uint8Array.of(2, 7, 7));
    expect(packet).toEqual(Uint8Array.of(1, 2));
  });

  test.each([
    [[0x80, 0]],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]],
    [[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]],
  ])("W1: %j is no number", (bytes) => {
    const reader = new Bytes();
    reader.add(Uint8Array.from(bytes));
    expect(() => reader.varint()).toThrow("number");
  });
});

describe("T13: multipart responses", () => {
  const part = (content: Uint8Array): Uint8Array =>
    join(bytes(`--cut\r\nContent-Length: ${content.length}\r\n\r\n`), content, bytes("\r\n"));
  const whole = (parts: readonly Uint8Array[]): Uint8Array =>
    join(bytes(`${" ".repeat(2048)}\r\n`), ...parts.map(part), bytes("--cut--\r\n"));

  test("are read unchanged, wherever the response is cut", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = randomOf(seed);
      const parts = packetsOf(random);
      const reader = new PartReader(TYPE);
      const got: Uint8Array[] = [];
      for (const piece of pieces(whole(parts), random)) {
        reader.add(piece);
        got.push(...readAll(reader));
      }
      expect(got, `seed ${seed}`).toEqual(parts);
      expect(reader.isOver).toBe(true);
    }
  });

  test("a part is complete with its last byte, before the bytes after it", () => {
    const reader = new PartReader(TYPE);
    reader.add(bytes("--cut\r\nContent-Length: 2\r\n\r\nhi"));
    expect(reader.next()).toEqual(bytes("hi"));
    expect(reader.isOver).toBe(false);
  });

  test.each([
    "multipart/mixed; boundary=cut",
    'multipart/mixed; boundary="cut"',
    "Multipart/Mixed;charset=x;Boundary=cut",
    "multipart/mixed;boundary=cut;x=y",
  ])("the boundary of %s", (type) => {
    const reader = new PartReader(type);
    reader.add(whole([bytes("x")]));
    expect(readAll(reader)).toEqual([bytes("x")]);
  });

  test.each([null, "", "text/html", "multipart/mixed", "multipart/mixed; boundary=", "text/plain; boundary=cut"])(
    "%j has no parts",
    (type) => {
      expect(() => new PartReader(type)).toThrow("no parts");
    },
  );

  test.each([
    ["padding without end", "x".repeat(9000)],
    ["a header without end", `--cut\r\n${"x".repeat(300)}`],
    ["another header", "--cut\r\nContent-Type: text/html\r\n\r\n"],
    ["no length", "--cut\r\n\r\nabc"],
    ["a length that is none", "--cut\r\nContent-Length: -1\r\n\r\n"],
    ["a length beyond the limit", "--cut\r\nContent-Length: 65537\r\n\r\n"],
    ["a length that is no whole number", "--cut\r\nContent-Length: 1e3\r\n\r\n"],
    ["a delimiter that goes on", "--cuts\r\nContent-Length: 1\r\n\r\na"],
  ])("%s ends it", (_, text) => {
    const reader = new PartReader(TYPE);
    reader.add(bytes(text));
    expect(() => readAll(reader)).toThrow();
  });

  test("random bytes never make the reader hang or return a part beyond the limit", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = randomOf(seed);
      const reader = new PartReader(TYPE);
      try {
        for (let i = 0; i < 50; i += 1) {
          const known = ["--cut", "\r\n", "Content-Length: ", "--", "65536", "1"][random(6)] ?? "";
          reader.add(random(2) ? bytes(known) : Uint8Array.from({ length: random(400) }, () => random(256)));
          for (const part of readAll(reader)) expect(part.length).toBeLessThanOrEqual(65_536);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  });
});

describe("T15: responses", () => {
  test("contain the preamble, then the packets", () => {
    const events = { preamble: vi.fn(), packet: vi.fn() };
    readAnswer(framed([...bytes(ID), ...varint(300)], [Uint8Array.of(1, 2), Uint8Array.of()]), events);
    expect(events.preamble).toHaveBeenCalledExactlyOnceWith(ID, 300);
    expect(events.packet.mock.calls).toEqual([[Uint8Array.of(1, 2)], [Uint8Array.of()]]);
  });

  test.each([
    ["nothing", []],
    ["half an id", [...bytes(ID.slice(0, 20))]],
    ["no number", [...bytes(ID)]],
    ["an id that is none", [...bytes("<html>".padEnd(32)), 1]],
    ["a packet that is cut", [...bytes(ID), 1, 5, 1, 2]],
    ["a packet that is too long", [...bytes(ID), 1, ...varint(70_000)]],
  ])("%s is refused", (_, bytes) => {
    expect(() => readAnswer(Uint8Array.from(bytes), { preamble() {}, packet() {} })).toThrow();
  });
});

test.each(["", ID, `${ID} `, `${ID} -1`, `${ID} 1 `, `${ID.toUpperCase()} 1`, `x${ID} 1`, `${ID} 1e9`, `${ID}  1`])(
  "%j is no preamble",
  (text) => {
    expect(() => readPreamble(text)).toThrow("preamble");
  },
);

test("T14: base64 of at most one packet is decoded", () => {
  expect(fromBase64("AP+A")).toEqual(Uint8Array.of(0, 255, 128));
  expect(fromBase64("")).toEqual(Uint8Array.of());
  expect(() => fromBase64("<script>")).toThrow();
  expect(() => fromBase64("AAAA".repeat(22_000))).toThrow("66000");
});

test("T4: a server's WebTransport offer is used only as far as it is valid", () => {
  const hash = "0123456789abcdef".repeat(4);
  const offer = readOffer({ webtransport: { port: 8080, hashes: [hash, "short", 7, `${hash}00`] } });
  expect(offer?.port).toBe(8080);
  expect(offer?.hashes).toHaveLength(1);
  expect(offer?.hashes[0]?.slice(0, 3)).toEqual(Uint8Array.of(1, 0x23, 0x45));
  expect(readOffer({ webtransport: { port: 443 } })).toEqual({ port: 443, hashes: [] });
  for (const odd of [null, 1, "x", {}, { webtransport: null }, { webtransport: { port: "x" } }, { webtransport: [] }]) {
    expect(readOffer(odd)).toBeUndefined();
  }
});
