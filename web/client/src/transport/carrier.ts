/** One link made of requests (docs/transports.md, HTTP): responses bring packets, uploads take them. */

import { door } from "../address.js";
import type { Down, DownKind } from "./down.js";
import type { Hold } from "./hold.js";
import { FULL, type Link, type LinkEvents } from "./link.js";
import { Uploads } from "./uploads.js";

/** T12. */
const RENEWAL_MS = 25_000;
const RENEWAL_BYTES = 512 * 1024;

/** T19: later, the stream is taken for buffered. The same for the end of a response that another one took over. */
const STREAM_MS = 1500;

/** The server waits for an acknowledgement at 256 KiB or 1,024 packets (T10): a quarter of that leaves time for it. */
const ACKNOWLEDGE_BYTES = 64 * 1024;
const ACKNOWLEDGE_PACKETS = 256;

/** So often a response is asked for again that brings nothing new, over 3 s: the server waits no longer than 5 (T18). */
const TRIES = 5;
const FIRST_PAUSE_MS = 100;

/** As often as `poll` asks, at most: a held request that is answered with nothing at once is something's mistake. */
const IDLE_MS = 100;

/** What is kept of a response while the older one is read to its end: as much as a server may send of one (T12). */
const MAX_KEPT = 1 << 20;

/** A response, being read. */
interface Reading {
  down: Down | undefined;
  /** The number of its next packet; undefined before the preamble. */
  next: number | undefined;
  readonly since: number;
  bytes: number;
  /** What came while the older one was being read. */
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
  /** Packets that have come, without a hole. */
  #received = 0;
  /** Since the server was told last. */
  #untold = { bytes: 0, packets: 0 };
  #reading: Reading | undefined;
  /** The response before, read to its end (T11). */
  #older: Reading | undefined;
  #fruitless = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #giveBack: (() => void) | undefined;
  #hasEnded = false;

  /** `hold`: for responses that are held. */
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

  release(goes: boolean): void {
    this.#uploads.release(goes);
  }

  close(): void {
    this.#hasEnded = true;
    this.#uploads.finish();
    clearTimeout(this.#pause);
    this.#drop(this.#older);
    this.#drop(this.#reading);
    this.#giveBack?.();
  }

  async #begin(hold: Hold | undefined): Promise<void> {
    this.#giveBack = hold ? await hold.take() : () => {};
    if (this.#hasEnded) this.#giveBack?.();
    else if (this.#giveBack) this.#ask();
    else this.#end(FULL);
  }

  #ask(): void {
    const id = this.#id;
    const body = id === undefined ? "" : `id=${id}&received=${this.#received}`;
    this.#untold = { bytes: 0, packets: 0 };
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
    if (this.#kind.isStream) {
      reading.timer = setTimeout(() => this.#end("is held back by something on the way"), STREAM_MS);
    }
    reading.down = this.#kind.open(this.#url, body, {
      preamble: (id, first) => this.#preamble(reading, id, first),
      packet: (packet) => this.#packet(reading, packet),
      ended: (broken) => this.#over(reading, broken),
      refused: (reason) => this.#end(reason),
    });
  }

  #preamble(reading: Reading, id: string, first: number): void {
    if (this.#hasEnded) return;
    clearTimeout(reading.timer);
    reading.next = first;
    if (this.#id !== undefined && this.#id !== id) return this.#end("answered with another's packets");
    if (this.#kind.isStream) reading.timer = setTimeout(() => this.#renew(reading), RENEWAL_MS);
    const older = this.#older;
    // The server ends it at once; if that does not come through, what it lacks is asked for again.
    if (older) older.timer = setTimeout(() => this.#leave(older), STREAM_MS);
    if (this.#id !== undefined) return;
    this.#id = id;
    this.#uploads.start(id);
    this.#events.opened(0);
  }

  #packet(reading: Reading, packet: Uint8Array): void {
    if (this.#hasEnded) return;
    reading.bytes += packet.length;
    if (this.#older && reading !== this.#older) {
      reading.kept.push(packet);
      if (reading.bytes > MAX_KEPT) this.#end("sent too much at once");
      return;
    }
    if (this.#deliver(reading, packet) && this.#kind.isStream && reading.bytes >= RENEWAL_BYTES) this.#renew(reading);
  }

  /** False if this response is of no use any more. */
  #deliver(reading: Reading, packet: Uint8Array): boolean {
    const number = reading.next ?? 0;
    if (number > this.#received + 1) {
      this.#again(reading);
      return false;
    }
    reading.next = number + 1;
    // It was sent again.
    if (number <= this.#received) return true;
    this.#received = number;
    this.#fruitless = 0;
    this.#note(packet.length);
    this.#events.received(packet);
    return !this.#hasEnded;
  }

  #note(bytes: number): void {
    this.#untold.bytes += bytes;
    this.#untold.packets += 1;
    if (this.#untold.bytes < ACKNOWLEDGE_BYTES && this.#untold.packets < ACKNOWLEDGE_PACKETS) return;
    this.#untold = { bytes: 0, packets: 0 };
    this.#uploads.acknowledge();
  }

  /** A new response takes over before this one has grown too large (T11, T12). */
  #renew(reading: Reading): void {
    if (this.#hasEnded || this.#older || reading !== this.#reading || reading.isOver) return;
    clearTimeout(reading.timer);
    this.#older = reading;
    this.#ask();
  }

  #over(reading: Reading, broken: string | undefined): void {
    if (this.#hasEnded || reading.isOver) return;
    clearTimeout(reading.timer);
    reading.isOver = true;
    if (reading === this.#older) return this.#leave(reading);
    if (this.#id === undefined) return this.#end(broken ?? "ended before it began");
    // With an older one its packets come first.
    if (this.#older && reading.next !== undefined) return;
    if (broken !== undefined || (this.#kind.isStream && reading.bytes === 0)) return this.#again(reading);
    // An answer with nothing in it is not followed at once, except the one that made the carrier.
    const interval = reading.bytes > 0 || this.#received === 0 ? this.#kind.interval : IDLE_MS;
    const wait = reading.since + interval - performance.now();
    if (wait <= 0) this.#ask();
    else this.#pause = setTimeout(() => this.#ask(), wait);
  }

  /** Nothing more of the older response: now what the newer one brought meanwhile. */
  #leave(older: Reading): void {
    if (this.#hasEnded || this.#older !== older) return;
    this.#drop(older);
    this.#older = undefined;
    const reading = this.#reading;
    if (!reading) return;
    if (reading.kept.splice(0).every((packet) => this.#deliver(reading, packet)) && reading.isOver)
      this.#again(reading);
  }

  /** Something is missing, or it broke: asks for what comes after what there is. */
  #again(reading: Reading): void {
    if (this.#reading !== reading) return;
    this.#drop(reading);
    this.#fruitless += 1;
    if (this.#fruitless > TRIES) return this.#end("broke");
    clearTimeout(this.#pause);
    // A response that is missing packets is asked for at once, one that breaks again and again less and less often.
    const wait = this.#fruitless === 1 ? 0 : FIRST_PAUSE_MS * 2 ** (this.#fruitless - 2);
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
