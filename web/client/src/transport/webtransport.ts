/**
 * Packets over WebTransport (T5, T6): awareness in datagrams, all else on one stream, each packet
 * preceded by its length.
 */

import { framed, PacketReader } from "./framing.js";
import type { Link, LinkEvents } from "./link.js";
import { type Offer, offerOf } from "./offer.js";

/** A datagram that has waited longer than this is dropped (T6). */
const OLDEST_MS = 100;

/** The last packets have this long to leave before the connection is closed. */
const CLOSING_MS = 500;

/**
 * Received datagrams that may wait for the page. The default of browsers, one or two, is too small
 * for a busy page.
 */
const INCOMING = 64;

/** Datagrams that the browser may queue for the network (T6). */
const OUTGOING = 2;

/** What servers offered when a session last opened. */
const offers = new WeakMap<URL, Offer>();

interface Waiting {
  readonly packet: Uint8Array<ArrayBuffer>;
  readonly since: number;
}

/** The datagram interface of browsers, which differs from TypeScript's types. */
interface Datagrams {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable?: WritableStream<Uint8Array>;
  /** The method in the current specification, and the only one in Safari. */
  createWritable?(): WritableStream<Uint8Array>;
  readonly maxDatagramSize: number;
  incomingHighWaterMark: number;
  outgoingHighWaterMark: number;
  outgoingMaxAge: number | null;
}

type Options = WebTransportOptions & { serverCertificateHashes?: { algorithm: string; value: BufferSource }[] };

export class WebTransportLink implements Link {
  readonly #events: LinkEvents;
  readonly #asking = new AbortController();
  #session: WebTransport | undefined;
  #stream: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #datagrams: Datagrams | undefined;
  #out: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #maxDatagram = 0;
  /** Packets not yet reported as sent. */
  #unsent = 0;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #isOpen = false;
  #hasEnded = false;

  constructor(server: URL, events: LinkEvents) {
    this.#events = events;
    this.#open(server).catch(() => this.#end(this.#isOpen ? "broke" : "could not be opened"));
  }

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#unsent += 1;
    this.#stream?.write(framed([], [packet])).then(
      () => this.#sent(1),
      () => this.#end("broke"),
    );
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push({ packet, since: performance.now() });
    void this.#writeDatagrams();
  }

  release(): void {
    this.#sent(this.#unsent);
  }

  close(): void {
    this.#detach();
    const session = this.#session;
    if (!session) return;
    const end = (): void => {
      try {
        session.close();
      } catch {
        // The session never opened, or broke before.
      }
    };
    // `session.close` would discard what the stream has not sent.
    if (!this.#stream) return end();
    const late = setTimeout(end, CLOSING_MS);
    this.#stream.close().then(
      () => {
        clearTimeout(late);
        end();
      },
      () => {},
    );
  }

  async #open(server: URL): Promise<void> {
    const asked = offerOf(server, this.#asking.signal);
    asked.catch(() => {});
    // While the server is asked, the offer that worked last is tried: on a slow path the answer
    // takes long.
    const known = offers.get(server);
    const early = known && this.#connect(server, known);
    const opens = early?.ready.then(
      () => {
        if (this.#hasEnded) early.close();
        return known;
      },
      () => asked,
    );
    opens?.catch(() => {});
    // A request that fails, as many do in the moment of a change of networks, does not end the
    // connection that opens.
    const answered = asked.then(
      (offer) => offer ?? opens,
      () => opens,
    );
    const offer = await (opens ? Promise.race([answered, opens]) : asked);
    if (this.#hasEnded) return;
    if (!offer) return this.#end("is not offered by the server");
    let session = early;
    if (!session || `${[known?.port, known?.hashes]}` !== `${[offer.port, offer.hashes]}`) {
      opens?.then(() => early?.close()).catch(() => {});
      session = this.#connect(server, offer);
    }
    session.closed.then(
      () => this.#end("was closed by the server"),
      () => this.#end(this.#isOpen ? "broke" : "could not be opened"),
    );
    await session.ready;
    offers.set(server, offer);
    if (this.#hasEnded) return this.close();
    const { readable, writable } = await session.createBidirectionalStream();
    if (this.#hasEnded) return this.close();
    this.#stream = writable.getWriter();
    this.#prepareDatagrams(session.datagrams as unknown as Datagrams);
    this.#isOpen = true;
    this.#events.opened(this.#maxDatagram);
    await this.#read(readable as ReadableStream<Uint8Array>);
  }

  #connect(server: URL, offer: Offer): WebTransport {
    const url = new URL("/wt", server);
    url.search = server.search;
    url.protocol = "https:";
    url.port = String(offer.port);
    const options: Options = { congestionControl: "low-latency" };
    if (offer.hashes.length > 0) {
      options.serverCertificateHashes = offer.hashes.map((value) => ({ algorithm: "sha-256", value }));
    }
    const session = (this.#session = new WebTransport(url, options));
    session.closed.catch(() => {});
    return session;
  }

  #prepareDatagrams(datagrams: Datagrams): void {
    this.#datagrams = datagrams;
    // Assigning a property that a browser lacks has no effect.
    datagrams.incomingHighWaterMark = INCOMING;
    datagrams.outgoingHighWaterMark = OUTGOING;
    datagrams.outgoingMaxAge = OLDEST_MS;
    this.#out = (datagrams.createWritable?.() ?? datagrams.writable)?.getWriter();
    this.#maxDatagram = this.#out ? datagrams.maxDatagramSize : 0;
    this.#readDatagrams(datagrams.readable).catch(() => {
      // The session broke; its promise `closed` reports that.
    });
  }

  async #read(readable: ReadableStream<Uint8Array>): Promise<void> {
    const reader = readable.getReader();
    const packets = new PacketReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#hasEnded) return;
      if (done) return this.#end("was closed by the server");
      packets.bytes.add(value);
      for (let packet = packets.next(); packet; packet = packets.next()) {
        this.#events.received(packet);
        if (this.#hasEnded) return;
      }
    }
  }

  async #readDatagrams(readable: ReadableStream<Uint8Array>): Promise<void> {
    const reader = readable.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#hasEnded) return;
      this.#events.receivedDatagram(value);
    }
  }

  async #writeDatagrams(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let next = this.#waiting.shift(); next && !this.#hasEnded; next = this.#waiting.shift()) {
      if (performance.now() - next.since <= OLDEST_MS) await this.#writeDatagram(next.packet);
      if (!this.#hasEnded) this.#events.datagramSent();
    }
    this.#isWriting = false;
  }

  async #writeDatagram(packet: Uint8Array<ArrayBuffer>): Promise<void> {
    // The path has changed, and the core would lose all datagrams of the size that it was told.
    if (packet.length > (this.#datagrams?.maxDatagramSize ?? 0)) return this.#end("takes only smaller datagrams now");
    try {
      await this.#out?.ready;
      await this.#out?.write(packet);
    } catch {
      // The session broke; its promise `closed` reports that. A lost datagram is not reported.
    }
  }

  #sent(count: number): void {
    // `release` may have reported some packets before they left.
    const reported = Math.min(count, this.#unsent);
    this.#unsent -= reported;
    for (let i = 0; i < reported && !this.#hasEnded; i += 1) this.#events.sent();
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.close();
    this.#events.closed(reason);
  }

  #detach(): void {
    this.#hasEnded = true;
    this.#asking.abort();
    this.#waiting = [];
    this.#unsent = 0;
  }
}
