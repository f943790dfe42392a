/**
 * The WEB paper's techniques without a product above them: each message is a request, a part, a
 * script or a message of a WebSocket of its own. `lab/experiments/src/browsers/bare.rs` is the
 * other end.
 */

import { fill, read } from "./load";
import type { BareCommand, Received } from "./protocol";
import { pause } from "./time";

/** Before and behind each part of a multipart answer, as in `bare.rs`. */
const PART = "--part\r\nContent-Type: application/octet-stream\r\n\r\n";
const PART_END = "\r\n";

/** Sends or receives a load, and returns what came within the time limit. */
export async function bare(command: BareCommand): Promise<Received> {
  const { is_up, technique, ms } = command;
  const tally = new Tally(command);
  const ended = new AbortController();
  const running = is_up
    ? technique === "websocket"
      ? sendBySocket(command, ended.signal)
      : sendByRequests(command, ended.signal)
    : RECEIVERS[technique](command, (bytes) => tally.take(bytes), ended.signal).then(() => tally.received());
  const late = pause(ms).then(() => tally.received());
  try {
    return await Promise.race([running, late]);
  } finally {
    // What is still under way ends with an error that nobody waits for.
    running.catch(() => undefined);
    ended.abort();
  }
}

/** Counts and checks the messages of a load. */
class Tally {
  private messages = 0;
  private first = 0;
  private last = 0;
  private isComplete = false;
  private wrong: string | null = null;

  /** The bytes of a message: text of an iframe has two digits for each. */
  private readonly bytes: number;

  constructor(private readonly load: BareCommand) {
    this.bytes = load.technique === "iframe" ? Math.floor(load.size / 2) : load.size;
  }

  /** Returns true for the last message. */
  take(bytes: Uint8Array): boolean {
    const load = read(bytes);
    const isDue = load?.number === this.messages && load.run === this.load.run && bytes.length === this.bytes;
    if (!isDue) this.wrong ??= `message ${this.messages} is another one`;
    this.last = performance.now();
    if (this.messages === 0) this.first = this.last;
    this.messages += 1;
    this.isComplete ||= load?.isLast ?? false;
    return this.isComplete;
  }

  received(): Received {
    const { messages, wrong, isComplete: complete } = this;
    // The first message begins the time, so that one interval is missing.
    const span_ms = ((this.last - this.first) * messages) / Math.max(messages - 1, 1);
    return { messages, arrivals: messages, span_ms, complete, wrong };
  }
}

type Take = (bytes: Uint8Array) => boolean;
type Receiver = (command: BareCommand, take: Take, signal: AbortSignal) => Promise<void>;

const RECEIVERS: Record<BareCommand["technique"], Receiver> = {
  async longpoll({ server, run, count, size }, take, signal) {
    for (let number = 0; number < count; number++) {
      const answer = await fetch(`${server}/longpoll/${run}/${number}/${number === count - 1}/${size}`, { signal });
      take(new Uint8Array(await answer.arrayBuffer()));
    }
  },

  async multipart({ server, run, count, size }, take, signal) {
    const answer = await fetch(`${server}/multipart/${run}/${count}/${size}`, { signal });
    const reader = answer.body?.getReader();
    if (!reader) throw new Error("the answer has no body");
    const length = PART.length + size + PART_END.length;
    let rest = new Uint8Array();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const bytes = new Uint8Array(rest.length + value.length);
      bytes.set(rest);
      bytes.set(value, rest.length);
      let at = 0;
      for (; at + length <= bytes.length; at += length) {
        take(bytes.subarray(at + PART.length, at + PART.length + size));
      }
      rest = bytes.slice(at);
    }
  },

  async iframe({ server, run, count, size }, take, signal) {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.src = `${server}/iframe/${run}/${count}/${size}`;
    await new Promise<void>((resolve) => {
      const listen = ({ source, data }: MessageEvent) => {
        if (source === frame.contentWindow && take(bytesOf(String(data)))) resolve();
      };
      addEventListener("message", listen, { signal });
      signal.addEventListener("abort", () => resolve());
      document.body.append(frame);
    });
    frame.remove();
  },

  async websocket(command, take, signal) {
    const socket = await connect(command, signal);
    await new Promise<void>((resolve, reject) => {
      socket.onmessage = ({ data }) => take(new Uint8Array(data as ArrayBuffer)) && resolve();
      socket.onclose = () => reject(new Error("the WebSocket was closed"));
    });
    socket.close();
  },
};

/** Each message is a request, which is sent when the one before was answered. */
async function sendByRequests({ server, run, count, size }: BareCommand, signal: AbortSignal): Promise<Received> {
  const start = performance.now();
  for (let number = 0; number < count; number++) {
    const body = fill(size, { number, run, isLast: number === count - 1 }) as Uint8Array<ArrayBuffer>;
    await fetch(`${server}/up/${run}/${size}`, { method: "POST", body, signal });
  }
  const span_ms = performance.now() - start;
  const answer = await fetch(`${server}/done/${run}`, { signal });
  return { ...((await answer.json()) as Received), span_ms };
}

async function sendBySocket(command: BareCommand, signal: AbortSignal): Promise<Received> {
  const { run, count, size } = command;
  const socket = await connect(command, signal);
  const done = new Promise<string>((resolve, reject) => {
    socket.onmessage = ({ data }) => resolve(String(data));
    socket.onclose = () => reject(new Error("the WebSocket was closed"));
  });
  const start = performance.now();
  for (let number = 0; number < count; number++) {
    socket.send(fill(size, { number, run, isLast: number === count - 1 }) as Uint8Array<ArrayBuffer>);
  }
  const received = JSON.parse(await done) as Received;
  socket.close();
  return { ...received, span_ms: performance.now() - start };
}

async function connect({ server, is_up, run, count, size }: BareCommand, signal: AbortSignal): Promise<WebSocket> {
  const socket = new WebSocket(server);
  socket.binaryType = "arraybuffer";
  signal.addEventListener("abort", () => socket.close());
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the WebSocket does not open"));
  });
  socket.send(JSON.stringify({ is_up, run, count, size }));
  return socket;
}

function bytesOf(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(digits.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}
