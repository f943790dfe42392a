/**
 * How a link over WebTransport opens: with the server's offer of now, or with the one that worked
 * last.
 */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WebTransportLink } from "../src/transport/webtransport.js";

const SERVER = new URL("https://example.org/");
const [ONE, OTHER] = ["11".repeat(32), "22".repeat(32)];

/** The hash of the server's certificate. */
let certificate = ONE;
/** Answers the oldest question for the offer that waits. */
let answers: (() => void)[] = [];
/** The hashes that were tried, in order. */
let tried: string[] = [];

class FakeTransport {
  readonly ready: Promise<void>;
  readonly closed: Promise<void>;
  readonly datagrams = { readable: new ReadableStream(), writable: new WritableStream(), maxDatagramSize: 1200 };
  readonly close = vi.fn();

  constructor(_: URL, { serverCertificateHashes: [hash] }: { serverCertificateHashes: { value: Uint8Array }[] }) {
    const hex = [...(hash?.value ?? [])].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    tried.push(hex);
    const fits = hex === certificate;
    this.ready = fits ? Promise.resolve() : Promise.reject(new Error("another certificate"));
    this.closed = fits ? new Promise(() => {}) : Promise.reject(new Error("another certificate"));
  }

  createBidirectionalStream(): Promise<object> {
    return Promise.resolve({ readable: new ReadableStream(), writable: new WritableStream() });
  }
}

beforeEach(() => {
  [certificate, answers, tried] = [ONE, [], []];
  vi.stubGlobal("WebTransport", FakeTransport);
  vi.stubGlobal("fetch", () => {
    const offer = { webtransport: { port: 8080, hashes: [certificate] } };
    return new Promise((resolve) => answers.push(() => resolve({ ok: true, json: () => offer })));
  });
});
afterEach(() => vi.unstubAllGlobals());

/**
 * Opens a link, and returns what it has reported by the time that nothing more happens; the server
 * answers if `answered`.
 */
async function open(server: URL, answered: boolean): Promise<string[]> {
  const reports: string[] = [];
  const report = (name: string) => (): void => void reports.push(name);
  const ignored = { received() {}, receivedDatagram() {}, sent() {}, datagramSent() {} };
  new WebTransportLink(server, { ...ignored, opened: report("opened"), closed: report("closed") });
  await settled();
  if (answered) answers.shift()?.();
  await settled();
  return reports;
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("T4: the first link waits for the server's offer, a later one does not", async () => {
  const server = new URL(SERVER);
  expect(await open(server, false)).toEqual([]);
  expect(tried).toEqual([]);
  answers = [];
  expect(await open(server, true)).toEqual(["opened"]);
  expect(await open(server, false)).toEqual(["opened"]);
});

test("T4: with another certificate the server's offer of now is used", async () => {
  const server = new URL(SERVER);
  expect(await open(server, true)).toEqual(["opened"]);
  certificate = OTHER;
  expect(await open(server, true)).toEqual(["opened"]);
  expect(tried).toEqual([ONE, ONE, OTHER]);
});
