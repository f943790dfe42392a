/** One long response in parts, each of them a packet (T13), which is read while it arrives. */

import type { Down, DownEvents, DownKind } from "./down.js";
import { readPreamble } from "./down.js";
import { Bytes } from "./framing.js";
import { MAX_PACKET } from "./link.js";

export const multipart: DownKind = {
  path: "multipart",
  isStream: true,
  interval: 0,
  open: (url, body, events) => (canStream() ? new Fetched(url, body, events) : new Progressive(url, body, events)),
};

/** Limit of the padding before the first part: twice what servers send (T13). */
const MAX_PADDING = 8192;

/** Limit of a part's header, whose only line is `Content-Length`. */
const MAX_HEADER = 256;

const decoder = new TextDecoder();
const LINE_END = Uint8Array.of(13, 10);

/** Reads the parts of `multipart/mixed` from chunks that may end anywhere. */
export class PartReader {
  readonly #bytes = new Bytes();
  readonly #delimiter: Uint8Array;
  #state: "padding" | "delimited" | "header" | "body" | "over" = "padding";
  #length: number | undefined;

  constructor(contentType: string | null) {
    const [, quoted, plain] =
      /^multipart\/mixed *;.*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? "") ?? [];
    const boundary = quoted ?? plain;
    if (!boundary) throw new Error("an answer that has no parts");
    this.#delimiter = new TextEncoder().encode(`--${boundary}`);
  }

  /** True after the closing delimiter. */
  get isOver(): boolean {
    return this.#state === "over";
  }

  add(chunk: Uint8Array): void {
    this.#bytes.add(chunk);
  }

  /** A copy of the next part; undefined if it is incomplete. */
  next(): Uint8Array<ArrayBuffer> | undefined {
    for (;;) {
      switch (this.#state) {
        case "padding":
          if (!this.#bytes.takeUntil(this.#delimiter)) return this.#atMost(MAX_PADDING);
          this.#state = "delimited";
          break;
        case "delimited": {
          const after = this.#bytes.take(2);
          if (!after) return undefined;
          const text = decoder.decode(after);
          if (text !== "--" && text !== "\r\n") throw new Error("a delimiter that goes on");
          this.#state = text === "--" ? "over" : "header";
          break;
        }
        case "header":
          if (!this.#header()) return this.#atMost(MAX_HEADER);
          break;
        case "body": {
          const part = this.#bytes.take(this.#length ?? 0);
          if (!part) return undefined;
          this.#state = "padding";
          return part.slice();
        }
        case "over":
          return undefined;
      }
    }
  }

  /** Reads one header line; returns false if it is incomplete. */
  #header(): boolean {
    const line = this.#bytes.takeUntil(LINE_END);
    if (!line) return false;
    if (line.length === 0) {
      if (this.#length === undefined) throw new Error("a part that does not say how long it is");
      this.#state = "body";
      return true;
    }
    const [, length] = /^content-length: *([0-9]{1,9}) *$/i.exec(decoder.decode(line)) ?? [];
    if (length === undefined) throw new Error("a part with a header that is not known");
    this.#length = Number(length);
    if (this.#length > MAX_PACKET) throw new Error(`a packet of ${this.#length} bytes`);
    return true;
  }

  #atMost(size: number): undefined {
    if (this.#bytes.length > size) throw new Error("an answer in parts whose next part does not begin");
  }
}

/** Turns parts into events, for both ways of reading a response. */
class Parts {
  readonly #reader: PartReader;
  #hasBegun = false;

  constructor(
    contentType: string | null,
    readonly events: DownEvents,
  ) {
    this.#reader = new PartReader(contentType);
  }

  take(chunk: Uint8Array): void {
    this.#reader.add(chunk);
    for (let part = this.#reader.next(); part; part = this.#reader.next()) {
      if (this.#hasBegun) this.events.packet(part);
      else {
        const { id, first } = readPreamble(decoder.decode(part));
        this.#hasBegun = true;
        this.events.preamble(id, first);
      }
    }
  }

  end(): void {
    this.events.ended(this.#reader.isOver ? undefined : "broke");
  }
}

function canStream(): boolean {
  return typeof Response === "function" && "body" in Response.prototype;
}

class Fetched implements Down {
  readonly #abort = new AbortController();

  constructor(url: string, body: string, events: DownEvents) {
    this.#read(url, body, events).catch(() => {
      if (this.#abort.signal.aborted) return;
      // The error may come from parsing: then the response is still open.
      this.close();
      events.ended("broke");
    });
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(url: string, body: string, events: DownEvents): Promise<void> {
    const { signal } = this.#abort;
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch(url, { method: "POST", body, headers, signal, cache: "no-store" });
    if (!answer.ok || !answer.body) return events.refused(`was refused with status ${answer.status}`);
    const parts = new Parts(answer.headers.get("Content-Type"), events);
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return;
      if (done) return parts.end();
      parts.take(value);
    }
  }
}

/**
 * Reads the response by XMLHttpRequest, in browsers whose `fetch` provides a response only when it
 * is complete.
 */
class Progressive implements Down {
  readonly #request = new XMLHttpRequest();

  constructor(url: string, body: string, events: DownEvents) {
    const request = this.#request;
    let parts: Parts | undefined;
    let read = 0;
    const take = (): void => {
      parts ??= new Parts(request.getResponseHeader("Content-Type"), events);
      const text = request.responseText;
      const chunk = Uint8Array.from({ length: text.length - read }, (_, i) => text.charCodeAt(read + i) & 255);
      read = text.length;
      parts.take(chunk);
    };
    const guarded = (run: () => void) => () => {
      try {
        run();
      } catch {
        this.close();
        events.ended("broke");
      }
    };
    request.open("POST", url);
    // With this character set each byte becomes one character.
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onprogress = guarded(() => request.status === 200 && take());
    request.onload = guarded(() => {
      if (request.status !== 200) return events.refused(`was refused with status ${request.status}`);
      take();
      parts?.end();
    });
    request.onerror = () => events.ended("broke");
    request.send(body);
  }

  close(): void {
    const request = this.#request;
    request.onprogress = request.onload = request.onerror = null;
    request.abort();
  }
}
