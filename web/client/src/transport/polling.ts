/** Responses that end at once (T15): packets one after the other, each preceded by its length. */

import type { Down, DownEvents, DownKind } from "./down.js";
import { readPreamble } from "./down.js";
import { Bytes, PacketReader } from "./framing.js";

/** Makes the kind of response for long polling and polling. */
export function ask(path: DownKind["path"], interval: number): DownKind {
  return { path, isStream: false, interval, open: (url, body, events) => new Asked(url, body, events) };
}

/** One request: by XMLHttpRequest, or by `fetch` where that is missing (Node, some workers). */
class Asked implements Down {
  readonly #abort = new AbortController();

  constructor(url: string, body: string, events: DownEvents) {
    const answer = typeof XMLHttpRequest === "undefined" ? byFetch : byXhr;
    answer(url, body, this.#abort.signal)
      .then(([status, bytes]) => {
        if (this.#abort.signal.aborted) return;
        if (status !== 200) return events.refused(`was refused with status ${status}`);
        readAnswer(bytes, events);
        if (!this.#abort.signal.aborted) events.ended();
      })
      .catch(() => this.#abort.signal.aborted || events.ended("broke"));
  }

  close(): void {
    this.#abort.abort();
  }
}

type Answer = [status: number, bytes: Uint8Array];

async function byFetch(url: string, body: string, signal: AbortSignal): Promise<Answer> {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const answer = await fetch(url, { method: "POST", body, headers, signal, cache: "no-store" });
  return [answer.status, new Uint8Array(await answer.arrayBuffer())];
}

function byXhr(url: string, body: string, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.responseType = "arraybuffer";
    request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onload = () => resolve([request.status, new Uint8Array((request.response as ArrayBuffer | null) ?? [])]);
    request.onerror = reject;
    signal.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

/** Reads a complete response. */
export function readAnswer(answer: Uint8Array, events: Pick<DownEvents, "preamble" | "packet">): void {
  const bytes = new Bytes();
  bytes.add(answer);
  const id = new TextDecoder().decode(bytes.take(32));
  const first = bytes.varint();
  const preamble = readPreamble(`${id} ${first}`);
  const packets = new PacketReader(bytes);
  events.preamble(preamble.id, preamble.first);
  for (let packet = packets.next(); packet; packet = packets.next()) events.packet(packet);
  if (packets.isWithin) throw new Error("an answer that ends within a packet");
}
