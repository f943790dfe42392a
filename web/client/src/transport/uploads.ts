/**
 * The upload direction of a carrier (T16): one request at a time, which takes all packets that are
 * waiting.
 */

import { framed, varint } from "./framing.js";

export interface UploadEvents {
  /** One packet has left. */
  sent(): void;
  failed(reason: string): void;
}

/**
 * The most bytes of an upload of several packets. The server hears nothing while an upload arrives,
 * and after 5 s it gives the carrier up. On a link of 64 kbit/s this many bytes take 3 s. A packet
 * alone may be larger (T17).
 */
const MAX_BODY = 24_576;

/**
 * An upload that has failed five times, over 3 s, is given up: the session moves to another
 * transport within that time.
 */
const TRIES = 5;
const FIRST_PAUSE_MS = 100;

/** A closing page may send 64 KiB in all requests together (Fetch standard, `keepalive`). */
const MAX_LAST = 60_000;
const MAX_KEPT = 8192;

interface Upload {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly packets: number;
  tries: number;
}

export class Uploads {
  readonly #url: string;
  readonly #events: UploadEvents;
  readonly #received: () => number;
  #id: readonly number[] | undefined;
  #queue: Uint8Array[] = [];
  #number = 0;
  #flying: Upload | undefined;
  /** Packets not yet reported as sent. */
  #unsent = 0;
  #owesWord = false;
  #isSilent = false;
  #hasEnded = false;

  /** `received` returns the number of packets received, which each upload acknowledges (T10). */
  constructor(url: string, received: () => number, events: UploadEvents) {
    this.#url = url;
    this.#received = received;
    this.#events = events;
  }

  /** The carrier exists from now on, so uploads may begin. */
  start(id: string): void {
    this.#id = [...new TextEncoder().encode(id)];
    this.#next();
  }

  add(packet: Uint8Array): void {
    this.#queue.push(packet);
    this.#unsent += 1;
    this.#next();
  }

  /** Acknowledges the received packets even if there is no packet to send. */
  acknowledge(): void {
    this.#owesWord = true;
    this.#next();
  }

  /** See `Link.release`. */
  release(pageCloses: boolean): void {
    const unsent = this.#unsent;
    this.#unsent = 0;
    for (let i = 0; i < unsent && !this.#isSilent; i += 1) this.#events.sent();
    // After the packets that the core sends in answer to these reports.
    if (pageCloses) queueMicrotask(() => this.#last());
  }

  /** Waiting packets are still sent, but nothing is reported any more. */
  finish(): void {
    this.#isSilent = true;
  }

  #next(): void {
    if (this.#hasEnded || this.#flying || !this.#id) return;
    if (this.#queue.length === 0 && !this.#owesWord) return;
    this.#flying = this.#take(MAX_BODY);
    void this.#fly(this.#flying);
  }

  /** Takes the next upload: at least one packet, at most `most` bytes. */
  #take(most: number): Upload {
    let [count, size] = [0, 0];
    for (const { length } of this.#queue) {
      size += length + 3;
      if (count > 0 && size > most) break;
      count += 1;
    }
    const packets = this.#queue.splice(0, count);
    this.#number += 1;
    this.#owesWord = false;
    const head = [...(this.#id ?? []), ...varint(this.#number), ...varint(this.#received())];
    return { body: framed(head, packets), packets: count, tries: 0 };
  }

  async #fly(upload: Upload): Promise<void> {
    const status = await this.#post(upload.body);
    if (this.#hasEnded) return;
    // The request was lost, or too slow for the server or a proxy: send it again (T16).
    if (status === 0 || status === 408 || status >= 500) {
      upload.tries += 1;
      if (upload.tries >= TRIES) return this.#fail("broke");
      setTimeout(() => void this.#fly(upload), FIRST_PAUSE_MS * 2 ** (upload.tries - 1));
      return;
    }
    if (status !== 204) return this.#fail(`was refused with status ${status}`);
    const reported = Math.min(upload.packets, this.#unsent);
    this.#unsent -= reported;
    // Before the next upload, so that it includes the packets that the core sends in answer to
    // these reports.
    for (let i = 0; i < reported && !this.#isSilent; i += 1) this.#events.sent();
    this.#flying = undefined;
    this.#next();
  }

  /** The status of the response; 0 if there was none. */
  async #post(body: Uint8Array<ArrayBuffer>): Promise<number> {
    try {
      const headers = { "Content-Type": "text/plain" };
      const keepalive = body.length <= MAX_KEPT;
      const answer = await fetch(this.#url, { method: "POST", body, headers, keepalive, cache: "no-store" });
      return answer.status;
    } catch {
      return 0;
    }
  }

  /** Sends all waiting packets in one request that survives the page. */
  #last(): void {
    if (this.#hasEnded || !this.#id || this.#queue.length === 0) return;
    const { body } = this.#take(MAX_LAST);
    this.#hasEnded = true;
    const type = "text/plain";
    if (typeof navigator.sendBeacon === "function" && navigator.sendBeacon(this.#url, new Blob([body], { type })))
      return;
    const headers = { "Content-Type": type };
    fetch(this.#url, { method: "POST", body, headers, keepalive: true }).catch(() => {});
  }

  #fail(reason: string): void {
    this.#hasEnded = true;
    if (!this.#isSilent) this.#events.failed(reason);
  }
}
