/**
 * A carrier: one link made of HTTP requests (docs/transports.md). Responses bring packets, uploads
 * send them.
 */

import { door } from "../door.js";
import type { Down, DownKind } from "./down.js";
import type { Hold } from "./hold.js";
import { FULL, type Link, type LinkEvents } from "./link.js";
import { Uploads } from "./uploads.js";

/** T12: a response is renewed after this time or this many bytes. */
const RENEWAL_MS = 25_000;
const RENEWAL_BYTES = 2 << 20;

/**
 * T19: if the preamble of the first stream takes longer than this, a proxy buffers it. Later ones
 * may wait behind the packets of the response before on a slow link. An older response that
 * brings neither packets nor its end for this time, after it was replaced, is abandoned.
 */
const STREAM_MS = 1500;

/**
 * The server stops sending at 1 MiB or 4,096 unacknowledged packets (T10). A sixteenth of that
 * leaves time for the acknowledgement to arrive, also over an uplink that is full.
 */
const ACKNOWLEDGE_BYTES = 64 * 1024;
const ACKNOWLEDGE_PACKETS = 256;

/**
 * How often a response that brings nothing new is requested again, over 3 s in all: the server
 * keeps a carrier without a response for 5 s (T18).
 */
const TRIES = 5;
const FIRST_PAUSE_MS = 100;

/**
 * Pause after a held request that was answered at once with nothing, which is somebody's mistake:
 * as long as `poll` waits.
 */
const IDLE_MS = 100;

/**
 * Limit of the packets kept from a new response while the older one is read to its end: a server
 * sends no more in one response (T12).
 */
const MAX_KEPT = 4 << 20;

/** A response that is being read. */
interface Reading {
  down: Down | undefined;
  /** The number of the next packet; undefined before the preamble. */
  next: number | undefined;
  readonly since: number;
  bytes: number;
  /** Packets that came while the older response was still being read. */
  kept: Uint8Array[];
  isOver: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Carrier implements Link {
  readonly #url: string;
  readonly #kind: DownKind;
  readonly #events: LinkEvents;
  readonly #uploads: Uploads;
  #id: string | undefined;
  /** The number of packets received without a gap. */
  #received = 0;
  /** Received since the last acknowledgement to the server. */
  #unacknowledged = { bytes: 0, packets: 0 };
  #reading: Reading | undefined;
  /** The response that was replaced and is still read to its end (T11). */
  #older: Reading | undefined;
  #failures = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #releaseHold: (() => void) | undefined;
  #hasEnded = false;

  /** `hold`: the limit for responses that stay open; undefined for a kind that needs none. */
  constructor(server: URL, kind: DownKind, hold: Hold | undefined, events: LinkEvents) {
    this.#url = door(server, `http/${kind.path}`);
    this.#kind = kind;
    this.#events = events;
    this.#uploads = new Uploads(door(server, "http/up"), () => this.#received, {
      sent: () => events.sent(),
      failed: (reason) => this.#end(reason),
    });
    void this.#begin(hold);
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#uploads.add(packet);
  }

  sendDatagram(): void {
    this.#events.datagramSent();
  }

  release(pageCloses: boolean): void {
    this.#uploads.release(pageCloses);
  }

  close(): void {
    this.#hasEnded = true;
    this.#uploads.finish();
    clearTimeout(this.#pause);
    this.#drop(this.#older);
    this.#drop(this.#reading);
    this.#releaseHold?.();
  }

  async #begin(hold: Hold | undefined): Promise<void> {
    this.#releaseHold = hold ? await hold.take() : () => {};
    if (this.#hasEnded) this.#releaseHold?.();
    else if (this.#releaseHold) this.#ask();
    else this.#end(FULL);
  }

  #ask(): void {
    const id = this.#id;
    const body = id === undefined ? "" : `id=${id}&received=${this.#received}`;
    this.#unacknowledged = { bytes: 0, packets: 0 };
    const reading: Reading = {
      down: undefined,
      next: undefined,
      since: performance.now(),
      bytes: 0,
      kept: [],
      isOver: false,
      timer: undefined,
    };
    this.#reading = reading;
    if (this.#kind.isStream && id === undefined) {
      reading.timer = setTimeout(() => this.#end("is held back by something on the way"), STREAM_MS);
    }
    reading.down = this.#kind.open(this.#url, body, {
      preamble: (id, first) => this.#preamble(reading, id, first),
      packet: (packet) => this.#packet(reading, packet),
      ended: (broken) => this.#ended(reading, broken),
      refused: (reason) => this.#end(reason),
    });
  }

  #preamble(reading: Reading, id: string, first: number): void {
    if (this.#hasEnded || reading.isOver) return;
    clearTimeout(reading.timer);
    reading.next = first;
    if (this.#id !== undefined && this.#id !== id) return this.#end("answered with another's packets");
    if (this.#kind.isStream) reading.timer = setTimeout(() => this.#renew(reading), RENEWAL_MS);
    const older = this.#older;
    if (older) this.#awaitEnd(older);
    if (this.#id === undefined) {
      this.#id = id;
      this.#uploads.start(id);
      this.#events.opened(0);
    }
    // With an older response this is decided when that one has ended.
    if (!older && this.#beginsTooLate(reading)) this.#retry(reading);
  }

  #packet(reading: Reading, packet: Uint8Array): void {
    if (this.#hasEnded || reading.isOver) return;
    reading.bytes += packet.length;
    if (this.#older && reading !== this.#older) {
      reading.kept.push(packet);
      if (reading.bytes > MAX_KEPT) this.#end("sent too much at once");
      return;
    }
    if (reading !== this.#reading && this.#reading?.next !== undefined) this.#awaitEnd(reading);
    if (this.#deliver(reading, packet) && this.#kind.isStream && reading.bytes >= RENEWAL_BYTES) this.#renew(reading);
  }

  /**
   * The server ends the older response when the newer one begins. If neither that end nor a packet
   * arrives for a while, the missing packets are requested again.
   */
  #awaitEnd(older: Reading): void {
    clearTimeout(older.timer);
    older.timer = setTimeout(() => this.#finishOlder(older), STREAM_MS);
  }

  /**
   * True if the response begins after packets that were lost, because the server did not know yet
   * that the previous one broke.
   */
  #beginsTooLate({ next = 0 }: Reading): boolean {
    return next > this.#received + 1;
  }

  /** Returns false if the packet ended the carrier. */
  #deliver(reading: Reading, packet: Uint8Array): boolean {
    const number = reading.next ?? 0;
    reading.next = number + 1;
    // The server has sent this packet again.
    if (number <= this.#received) return true;
    this.#received = number;
    this.#failures = 0;
    this.#note(packet.length);
    this.#events.received(packet);
    return !this.#hasEnded;
  }

  #note(bytes: number): void {
    this.#unacknowledged.bytes += bytes;
    this.#unacknowledged.packets += 1;
    if (this.#unacknowledged.bytes < ACKNOWLEDGE_BYTES && this.#unacknowledged.packets < ACKNOWLEDGE_PACKETS) return;
    this.#unacknowledged = { bytes: 0, packets: 0 };
    this.#uploads.acknowledge();
  }

  /** Requests a new response before this one becomes too long (T11, T12). */
  #renew(reading: Reading): void {
    if (this.#hasEnded || this.#older || reading !== this.#reading || reading.isOver) return;
    clearTimeout(reading.timer);
    this.#older = reading;
    this.#ask();
  }

  #ended(reading: Reading, broken: string | undefined): void {
    if (this.#hasEnded || reading.isOver) return;
    clearTimeout(reading.timer);
    reading.isOver = true;
    if (reading === this.#older) return this.#finishOlder(reading);
    if (this.#id === undefined) return this.#end(broken ?? "ended before it began");
    // With an older response, the packets of that one come first.
    if (this.#older && reading.next !== undefined) return;
    if (broken !== undefined || (this.#kind.isStream && reading.bytes === 0)) return this.#retry(reading);
    // After an empty response the next request waits, except after the response that created the
    // carrier.
    const interval = reading.bytes > 0 || this.#received === 0 ? this.#kind.interval : IDLE_MS;
    const wait = reading.since + interval - performance.now();
    if (wait <= 0) this.#ask();
    else this.#pause = setTimeout(() => this.#ask(), wait);
  }

  /** The older response is complete or given up: delivers what the newer one brought meanwhile. */
  #finishOlder(older: Reading): void {
    if (this.#hasEnded || this.#older !== older) return;
    this.#drop(older);
    this.#older = undefined;
    const reading = this.#reading;
    if (!reading) return;
    const { kept, isOver } = reading;
    reading.kept = [];
    if (this.#beginsTooLate(reading)) return this.#retry(reading);
    if (kept.every((packet) => this.#deliver(reading, packet)) && isOver) this.#retry(reading);
  }

  /**
   * The response broke or lacks packets: requests a new one that begins after the packets received.
   */
  #retry(reading: Reading): void {
    if (this.#hasEnded || this.#reading !== reading) return;
    this.#drop(reading);
    this.#failures += 1;
    if (this.#failures > TRIES) return this.#end("broke");
    clearTimeout(this.#pause);
    // The first repetition follows at once, further ones after growing pauses.
    const wait = this.#failures === 1 ? 0 : FIRST_PAUSE_MS * 2 ** (this.#failures - 2);
    this.#pause = setTimeout(() => this.#ask(), wait);
  }

  #drop(reading: Reading | undefined): void {
    if (!reading) return;
    clearTimeout(reading.timer);
    reading.isOver = true;
    reading.kept = [];
    reading.down?.close();
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.close();
    this.#events.closed(reason);
  }
}
