import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Carrier } from "../src/transport/carrier.js";
import type { Down, DownEvents, DownKind } from "../src/transport/down.js";
import { framed, PacketReader, varint } from "../src/transport/framing.js";
import { Hold } from "../src/transport/hold.js";
import { FULL } from "../src/transport/link.js";
import { longpoll } from "../src/transport/longpoll.js";
import { multipart } from "../src/transport/multipart.js";
import { randomOf } from "./random.js";
import { until } from "./until.js";

const SERVER = new URL("http://server.example/");
const ID = "0123456789abcdef0123456789abcdef";
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

interface Upload {
  readonly id: string;
  readonly number: number;
  readonly received: number;
  readonly packets: number[][];
}

function readUpload(body: Uint8Array): Upload {
  const reader = new PacketReader();
  reader.bytes.add(body);
  const id = new TextDecoder().decode(reader.bytes.take(32));
  const [number = -1, received = -1] = [reader.bytes.varint(), reader.bytes.varint()];
  const packets: number[][] = [];
  for (let packet = reader.next(); packet; packet = reader.next()) packets.push([...packet]);
  return { id, number, received, packets };
}

/** The server's side of a carrier's uploads. Responses are played by the test. */
function world(isStream: boolean, interval = 0) {
  const responses: { body: string; events: DownEvents; isClosed: boolean }[] = [];
  const kind: DownKind = {
    path: isStream ? "multipart" : "longpoll",
    isStream,
    interval,
    open(url, body, events): Down {
      expect(url).toBe(`http://server.example/http/${this.path}`);
      const response = { body, events, isClosed: false };
      responses.push(response);
      return { close: () => void (response.isClosed = true) };
    },
  };
  const uploads: Upload[] = [];
  /**
   * The outcomes of the next uploads: a status, 0 for a request that is lost, "lost" for a response
   * that is lost. Without an entry the status is 204.
   */
  const answers: (number | "lost")[] = [];
  const fetched = vi.fn(async (_: string, { body }: RequestInit) => {
    const answer = answers.shift() ?? 204;
    if (answer === 0) throw new TypeError("network");
    uploads.push(readUpload(body as Uint8Array));
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (answer === "lost") throw new TypeError("network");
    return { status: answer };
  });
  vi.stubGlobal("fetch", fetched);
  const got: number[] = [];
  const events = {
    opened: vi.fn(),
    received: (packet: Uint8Array) => got.push(packet[0] ?? -1),
    receivedDatagram: vi.fn(),
    sent: vi.fn(),
    datagramSent: vi.fn(),
    closed: vi.fn(),
  };
  const carrier = new Carrier(SERVER, kind, undefined, events);
  const response = (n: number) => {
    const it = responses[n];
    if (!it) throw new Error(`there was no response ${n}`);
    return it;
  };
  return { carrier, events, got, responses, response, uploads, answers, fetched };
}

async function opened(isStream: boolean, interval = 0) {
  const it = world(isStream, interval);
  await pass(0);
  it.response(0).events.preamble(ID, 1);
  return it;
}

const packet = (value: number): Uint8Array<ArrayBuffer> => Uint8Array.of(value);

test("T9: an empty request makes a carrier, which opens with the preamble and delivers in order", async () => {
  const it = await opened(true);
  expect(it.response(0).body).toBe("");
  expect(it.events.opened).toHaveBeenCalledExactlyOnceWith(0);
  for (const value of [1, 2, 3]) it.response(0).events.packet(packet(value));
  expect(it.got).toEqual([1, 2, 3]);
  it.carrier.sendDatagram();
  expect(it.events.datagramSent).toHaveBeenCalledOnce();
});

test("T16: packets go up in one request at a time, which takes all packets that wait", async () => {
  const it = await opened(true);
  it.response(0).events.packet(packet(9));
  for (const value of [1, 2, 3]) it.carrier.send(packet(value));
  expect(it.events.sent).not.toHaveBeenCalled();
  await pass(10);
  expect(it.events.sent).toHaveBeenCalledTimes(1);
  await pass(10);
  expect(it.events.sent).toHaveBeenCalledTimes(3);
  expect(it.uploads).toEqual([
    { id: ID, number: 1, received: 1, packets: [[1]] },
    { id: ID, number: 2, received: 1, packets: [[2], [3]] },
  ]);
  expect(it.fetched.mock.calls[0]).toMatchObject([
    "http://server.example/http/up",
    { method: "POST", headers: { "Content-Type": "text/plain" } },
  ]);
});

test("packets sent before the carrier exists wait for it", async () => {
  const it = world(true);
  it.carrier.send(packet(1));
  await pass(100);
  expect(it.uploads).toEqual([]);
  it.response(0).events.preamble(ID, 1);
  await pass(10);
  expect(it.uploads).toMatchObject([{ number: 1, packets: [[1]] }]);
});

test("T16: a lost request, or one whose response is lost, is sent again with the same number and the same packets", async () => {
  const it = await opened(true);
  it.answers.push(0, "lost", 502, 204);
  it.carrier.send(packet(1));
  it.carrier.send(packet(2));
  await pass(5000);
  expect(it.uploads.map(({ number, packets }) => [number, packets])).toEqual([
    [1, [[1]]],
    [1, [[1]]],
    [1, [[1]]],
    [2, [[2]]],
  ]);
  expect(it.events.sent).toHaveBeenCalledTimes(2);
  expect(it.events.closed).not.toHaveBeenCalled();
});

test("an upload that is lost five times ends the carrier", async () => {
  const it = await opened(true);
  it.answers.push(...Array<0>(10).fill(0));
  it.carrier.send(packet(1));
  await pass(5000);
  expect(it.events.closed).toHaveBeenCalledExactlyOnceWith("broke");
  expect(it.fetched).toHaveBeenCalledTimes(5);
});

test.each([403, 404, 409, 413])("T16, T17: an upload that is answered with %d ends the carrier", async (status) => {
  const it = await opened(true);
  it.answers.push(status);
  it.carrier.send(packet(1));
  await pass(50);
  expect(it.events.closed).toHaveBeenCalledExactlyOnceWith(`was refused with status ${status}`);
  expect(it.response(0).isClosed).toBe(true);
});

test("T17: several packets share an upload only up to 24 KiB", async () => {
  const it = await opened(true);
  it.carrier.send(packet(0));
  for (const size of [12_000, 12_000, 12_000, 60_000, 60_000, 10, 10]) it.carrier.send(new Uint8Array(size));
  await pass(100);
  expect(it.uploads.map(({ packets }) => packets.length)).toEqual([1, 2, 1, 1, 1, 2]);
});

test("T10: received packets are acknowledged even without packets to send", async () => {
  const it = await opened(true);
  for (let i = 1; i <= 600; i += 1) it.response(0).events.packet(packet(i & 255));
  await pass(50);
  expect(it.uploads.map(({ received }) => received)).toEqual([256, 600]);
  it.response(0).events.packet(new Uint8Array(65_536));
  await pass(50);
  expect(it.uploads.at(-1)).toMatchObject({ received: 601, packets: [] });
});

test("T11, T12: after 25 s a new response takes over, and the older one is read to its end first", async () => {
  const it = await opened(true);
  it.response(0).events.packet(packet(1));
  await pass(25_000);
  expect(it.response(1).body).toBe(`id=${ID}&received=1`);
  it.response(0).events.packet(packet(2));
  it.response(1).events.preamble(ID, 4);
  it.response(1).events.packet(packet(4));
  it.response(0).events.packet(packet(3));
  expect(it.got).toEqual([1, 2, 3]);
  it.response(0).events.ended();
  expect(it.got).toEqual([1, 2, 3, 4]);
  it.response(1).events.packet(packet(5));
  expect(it.got).toEqual([1, 2, 3, 4, 5]);
  expect(it.responses).toHaveLength(2);
  expect(it.events.opened).toHaveBeenCalledOnce();
});

test("T19: a later response may begin late, behind what the older one still brings over a slow link", async () => {
  const it = await opened(true);
  await pass(25_000);
  for (let i = 1; i <= 4; i += 1) {
    await pass(1000);
    it.response(0).events.packet(packet(i));
  }
  expect(it.events.closed).not.toHaveBeenCalled();
  it.response(1).events.preamble(ID, 5);
  it.response(0).events.ended();
  it.response(1).events.packet(packet(5));
  expect(it.got).toEqual([1, 2, 3, 4, 5]);
});

test("T12: after 2 MiB a new response takes over", async () => {
  const it = await opened(true);
  for (let i = 0; i < 32; i += 1) it.response(0).events.packet(new Uint8Array(65_535));
  expect(it.responses).toHaveLength(1);
  it.response(0).events.packet(new Uint8Array(65_535));
  expect(it.response(1).body).toBe(`id=${ID}&received=33`);
});

test("T11: if the older response breaks before the newer one's first packet, the missing packets are requested", async () => {
  const it = await opened(true);
  it.response(0).events.packet(packet(1));
  await pass(25_000);
  it.response(1).events.preamble(ID, 4);
  it.response(1).events.packet(packet(4));
  it.response(0).events.ended("broke");
  await pass(0);
  expect(it.got).toEqual([1]);
  expect(it.response(2).body).toBe(`id=${ID}&received=1`);
  expect(it.response(1).isClosed).toBe(true);
  it.response(2).events.preamble(ID, 2);
  for (const value of [2, 3, 4]) it.response(2).events.packet(packet(value));
  expect(it.got).toEqual([1, 2, 3, 4]);
});

test("T11: an older response is read as long as it brings packets", async () => {
  const it = await opened(true);
  await pass(25_000);
  it.response(1).events.preamble(ID, 5);
  for (let i = 1; i <= 4; i += 1) {
    await pass(1000);
    it.response(0).events.packet(packet(i));
  }
  it.response(0).events.ended();
  it.response(1).events.packet(packet(5));
  expect(it.got).toEqual([1, 2, 3, 4, 5]);
  expect(it.responses).toHaveLength(2);
});

test("T11: an older response that never ends is abandoned after a while", async () => {
  const it = await opened(true);
  await pass(25_000);
  it.response(1).events.preamble(ID, 1);
  it.response(1).events.packet(packet(1));
  expect(it.got).toEqual([]);
  await pass(1500);
  expect(it.got).toEqual([1]);
  expect(it.response(0).isClosed).toBe(true);
});

test("T10: a packet that comes twice is delivered once", async () => {
  const it = await opened(true);
  for (const value of [1, 2, 3]) it.response(0).events.packet(packet(value));
  it.response(0).events.ended("broke");
  await pass(0);
  it.response(1).events.preamble(ID, 2);
  for (const value of [2, 3, 4]) it.response(1).events.packet(packet(value));
  expect(it.got).toEqual([1, 2, 3, 4]);
});

test("T10: missing packets are requested again, and later ones are not delivered before", async () => {
  const it = await opened(true);
  it.response(0).events.packet(packet(1));
  it.response(0).events.ended("broke");
  await pass(0);
  it.response(1).events.preamble(ID, 3);
  expect(it.response(1).isClosed).toBe(true);
  it.response(1).events.packet(packet(3));
  await pass(100);
  expect(it.got).toEqual([1]);
  expect(it.response(2).body).toBe(`id=${ID}&received=1`);
});

test("a server that never sends the missing packets is given up", async () => {
  const it = await opened(true);
  it.response(0).events.ended("broke");
  for (let n = 1; n < 10 && it.events.closed.mock.calls.length === 0; n += 1) {
    await pass(1000);
    it.responses[n]?.events.preamble(ID, 7);
    it.responses[n]?.events.packet(packet(7));
  }
  expect(it.events.closed).toHaveBeenCalledExactlyOnceWith("broke");
  expect(it.got).toEqual([]);
});

test("T19: a stream whose preamble does not come within 1.5 s counts as buffered by a proxy", async () => {
  const it = world(true);
  await pass(1499);
  expect(it.events.closed).not.toHaveBeenCalled();
  await pass(1);
  expect(it.events.closed).toHaveBeenCalledExactlyOnceWith("is held back by something on the way");
  expect(it.response(0).isClosed).toBe(true);
});

test("T15: the answer to a held request is followed by the next request, which acknowledges it", async () => {
  const it = await opened(false);
  it.response(0).events.ended();
  await pass(0);
  expect(it.response(1).body).toBe(`id=${ID}&received=0`);
  it.response(1).events.preamble(ID, 1);
  it.response(1).events.packet(packet(1));
  it.response(1).events.packet(packet(2));
  it.response(1).events.ended();
  await pass(0);
  expect(it.response(2).body).toBe(`id=${ID}&received=2`);
  // An empty response is not followed by a request at once.
  it.response(2).events.preamble(ID, 3);
  it.response(2).events.ended();
  await pass(50);
  expect(it.responses).toHaveLength(3);
  await pass(50);
  expect(it.responses).toHaveLength(4);
});

test("T15: polling requests every 100 ms, or as fast as responses come", async () => {
  const it = await opened(false, 100);
  it.response(0).events.ended();
  await pass(99);
  expect(it.responses).toHaveLength(1);
  await pass(1);
  expect(it.responses).toHaveLength(2);
  await pass(300);
  it.response(1).events.preamble(ID, 1);
  it.response(1).events.ended();
  await pass(0);
  expect(it.responses).toHaveLength(3);
});

test("a response with another carrier's id ends the carrier", async () => {
  const it = await opened(true);
  it.response(0).events.ended("broke");
  await pass(0);
  it.response(1).events.preamble("f".repeat(32), 1);
  expect(it.events.closed).toHaveBeenCalledOnce();
});

test("a refusal by the server is reported at once", async () => {
  const it = world(true);
  await pass(0);
  it.response(0).events.refused("was refused with status 404");
  expect(it.events.closed).toHaveBeenCalledExactlyOnceWith("was refused with status 404");
});

test("after close, waiting packets are still sent and nothing is reported", async () => {
  const it = await opened(true);
  for (const value of [1, 2]) it.carrier.send(packet(value));
  it.carrier.release(false);
  expect(it.events.sent).toHaveBeenCalledTimes(2);
  it.carrier.send(packet(3));
  it.carrier.close();
  await pass(100);
  expect(it.uploads.flatMap(({ packets }) => packets)).toEqual([[1], [2], [3]]);
  expect(it.events.sent).toHaveBeenCalledTimes(2);
  expect(it.events.closed).not.toHaveBeenCalled();
  expect(it.response(0).isClosed).toBe(true);
  await pass(60_000);
  expect(it.responses).toHaveLength(1);
});

test("when the page closes, all waiting packets go in one last request", async () => {
  const sendBeacon = vi.fn((_: string, __: Blob) => true);
  vi.stubGlobal("navigator", { sendBeacon });
  const it = await opened(true);
  it.carrier.send(packet(1));
  it.carrier.send(packet(2));
  it.events.sent.mockImplementationOnce(() => it.carrier.send(packet(3)));
  it.carrier.release(true);
  it.carrier.close();
  await pass(0);
  expect(sendBeacon).toHaveBeenCalledOnce();
  const blob = sendBeacon.mock.calls[0]?.[1];
  expect(blob?.type).toBe("text/plain");
  const upload = readUpload(new Uint8Array((await blob?.arrayBuffer()) ?? []));
  expect(upload).toMatchObject({ number: 2, packets: [[2], [3]] });
});

test("over connections that break at random, every packet arrives once and in order, in both directions", async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = randomOf(seed);
    const it = await opened(true);
    // What the room has sent, and the packets that each response was given.
    const sent: number[] = [];
    const taken: number[][] = [];
    let lastNumber = 0;
    let wanted = 0;
    let next = 0;
    for (let step = 0; step < 80; step += 1) {
      const newest = it.responses.length - 1;
      const { body, events, isClosed } = it.response(newest);
      if (newest >= next && !isClosed) {
        // For a new response the older one ends anywhere, and the new one begins after the packets
        // received.
        const had = newest === 0 ? 0 : Number(new URLSearchParams(body).get("received"));
        if (newest > 0) {
          if (random(2)) it.response(newest - 1).events.ended(random(2) ? "broke" : undefined);
          events.preamble(ID, had + 1);
          for (const value of sent.slice(had)) events.packet(packet(value));
        }
        next = newest + 1;
      } else if (!isClosed && random(3)) {
        sent.push(sent.length & 255);
        events.packet(packet((sent.length - 1) & 255));
      } else if (random(4) === 0) events.ended(random(2) ? "broke" : undefined);
      if (random(2)) it.carrier.send(packet(wanted++ & 255));
      if (random(5) === 0) it.answers.push(([0, "lost", 503] as const)[random(3)] ?? 0);
      await pass(random(3) === 0 ? 200 : 5);
    }
    it.answers.length = 0;
    await pass(1000);
    for (const { number, packets } of it.uploads) {
      if (number === lastNumber) continue;
      lastNumber = number;
      taken.push(...packets);
    }
    expect(it.got, `seed ${seed}`).toEqual(sent.slice(0, it.got.length));
    if (it.events.closed.mock.calls.length > 0) continue;
    expect(taken, `seed ${seed}`).toEqual(Array.from({ length: wanted }, (_, i) => [i & 255]));
  }
});

test("T20: a fifth tab holds no response; one session's links count once; without Web Locks there is no limit", async () => {
  vi.useRealTimers();
  const held = new Set<string>();
  const request = async (name: string, _: unknown, run: (lock: object | null) => Promise<void>): Promise<void> => {
    if (held.has(name)) return run(null);
    held.add(name);
    await run({ name });
    held.delete(name);
  };
  vi.stubGlobal("navigator", { locks: { request } });
  const tabs = Array.from({ length: 5 }, () => new Hold("server.example"));
  const releases = [];
  for (const tab of tabs) releases.push(await tab.take());
  expect(releases.map((release) => release !== undefined)).toEqual([true, true, true, true, false]);
  const second = await tabs[0]?.take();
  expect(second).toBeDefined();
  releases[0]?.();
  expect(await tabs[4]?.take()).toBeUndefined();
  second?.();
  second?.();
  await until(() => held.size === 3, 50);
  expect(await tabs[4]?.take()).toBeDefined();
  vi.stubGlobal("navigator", { locks: { request: () => Promise.reject(new DOMException("insecure")) } });
  expect(await new Hold("x").take()).toBeDefined();
  vi.stubGlobal("navigator", {});
  expect(await new Hold("x").take()).toBeDefined();
});

test("T20: a carrier that may not hold a response reports it", async () => {
  const hold = { take: () => Promise.resolve(undefined) } as unknown as Hold;
  const closed = vi.fn();
  const [opened, received, sent, other] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  const events = { opened, received, sent, closed, receivedDatagram: other, datagramSent: other };
  new Carrier(SERVER, multipart, hold, events);
  await pass(0);
  expect(closed).toHaveBeenCalledExactlyOnceWith(FULL);
});

/** A `Response` whose body arrives in the given pieces. */
function streamed(contentType: string, pieces: readonly Uint8Array[], status = 200): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Response(body, { status, headers: { "Content-Type": contentType } });
}

async function read(kind: DownKind, response: Response) {
  vi.useRealTimers();
  vi.stubGlobal("fetch", () => Promise.resolve(response));
  const told: unknown[][] = [];
  const tell =
    (name: string) =>
    (...values: unknown[]) =>
      void told.push([name, ...values]);
  const events = { preamble: tell("preamble"), packet: tell("packet"), ended: tell("ended"), refused: tell("refused") };
  kind.open("http://server.example/", "", events as DownEvents);
  await until(() => told.some(([name]) => name === "ended" || name === "refused"), 50);
  return told;
}

test("T13: a streamed response: preamble, packets, end", async () => {
  const part = (content: string) => bytes(`--b\r\nContent-Length: ${content.length}\r\n\r\n${content}\r\n`);
  const whole = [part(`${ID} 5`), part("one"), part("two"), bytes("--b--\r\n")];
  expect(await read(multipart, streamed("multipart/mixed; boundary=b", whole))).toEqual([
    ["preamble", ID, 5],
    ["packet", bytes("one")],
    ["packet", bytes("two")],
    ["ended", undefined],
  ]);
  expect(await read(multipart, streamed("multipart/mixed; boundary=b", whole.slice(0, 2)))).toEqual([
    ["preamble", ID, 5],
    ["packet", bytes("one")],
    ["ended", "broke"],
  ]);
});

test("a response of another kind of server is refused or counts as broken", async () => {
  expect(await read(multipart, streamed("text/html", [bytes("<h1>Log in</h1>")]))).toEqual([["ended", "broke"]]);
  expect(await read(multipart, streamed("text/html", [], 404))).toEqual([["refused", "was refused with status 404"]]);
  expect(await read(longpoll, streamed("text/html", [bytes("<h1>Log in to the hotel's network</h1>")]))).toEqual([
    ["ended", "broke"],
  ]);
  expect(await read(longpoll, streamed("x/y", [], 404))).toEqual([["refused", "was refused with status 404"]]);
  const answer = framed([...bytes(ID), ...varint(2)], [bytes("one")]);
  expect(await read(longpoll, streamed("application/byte-stream", [answer]))).toEqual([
    ["preamble", ID, 2],
    ["packet", bytes("one")],
    ["ended"],
  ]);
});
