/**
 * A transport between a participant and the server, over a simulated network. It is the
 * participant's link, and the server's.
 */

import type { TransportName } from "../api.js";
import type { Link, LinkEvents } from "../transport/link.js";
import type { SimulatedClock } from "./clock.js";
import type { Path, Way } from "./path.js";

/**
 * The size of the sender's socket buffer: packets that have left but not arrived. If they have more
 * bytes, the sender has to wait.
 */
const WINDOW = 65_536;

/**
 * Round trips until a transport is open: TCP, TLS and HTTP one after the other, or QUIC with TLS,
 * then HTTP/3.
 */
const ROUND_TRIPS = { websocket: 3, webtransport: 2 };

/**
 * Bytes of the largest datagram: QUIC's packet size before path MTU discovery, less its headers.
 */
const MAX_DATAGRAM = 1200;

/** What the server's end reports. */
export interface ServerEnd {
  readonly isUp: boolean;
  opened(transport: SimulatedTransport): void;
  received(transport: SimulatedTransport, packet: Uint8Array): void;
  receivedDatagram(transport: SimulatedTransport, packet: Uint8Array): void;
  sent(transport: SimulatedTransport): void;
  datagramSent(transport: SimulatedTransport): void;
  closed(transport: SimulatedTransport): void;
}

/** A packet of the stream or a datagram, when an end hands it to the network. */
export interface Packet {
  /** The name of the participant. */
  readonly who: string;
  /** `up`: to the server. `down`: to the participant. */
  readonly way: Way;
  /** Its size, without the headers of the transport and of the network below it. */
  readonly bytes: number;
  readonly isDatagram: boolean;
  /**
   * True for a datagram that does not arrive, and for a packet of the stream that is lost at first
   * and arrives late.
   */
  readonly isLost: boolean;
}

export interface TransportOptions {
  /** A number that no other transport of the server has. */
  readonly number: number;
  readonly name: TransportName;
  /** The name of the room that it was opened for. */
  readonly room: string;
  readonly clock: SimulatedClock;
  readonly path: Path;
  readonly server: ServerEnd;
  /** The participant's end. */
  readonly events: LinkEvents;
  /** Adds a line to the log about this transport. */
  readonly log: (text: () => string) => void;
  /** An end sends a packet or a datagram. */
  readonly sent?: (way: Way, packet: Omit<Packet, "who" | "way">) => void;
}

/** One direction of the stream. */
class Lane {
  /** When the packet that was sent last arrives. */
  last = 0;
  /** The arrivals of packets under way, in the order in which they were sent. */
  readonly underWay: (() => void)[] = [];
  /** The bytes of these packets. */
  bytes = 0;
}

export class SimulatedTransport implements Link {
  readonly #options: TransportOptions;
  readonly #lanes: Record<Way, Lane> = { up: new Lane(), down: new Lane() };
  readonly #maxDatagram: number;
  /** Packets of the participant that have not been reported as sent. */
  #unreported = 0;
  #isOpen = false;
  /** True for an end to which nothing is reported any more. */
  #isDeaf = { client: false, server: false };
  /** Nothing arrives any more. */
  #isBroken = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { name, path, clock } = options;
    const isDatagrams = name === "webtransport";
    this.#maxDatagram = isDatagrams ? MAX_DATAGRAM : 0;
    const time = path.handshakeTime(isDatagrams ? ROUND_TRIPS.webtransport : ROUND_TRIPS.websocket);
    clock.after(time, () => path.arrive("down", () => this.#open()));
  }

  get number(): number {
    return this.#options.number;
  }

  get name(): TransportName {
    return this.#options.name;
  }

  get room(): string {
    return this.#options.room;
  }

  /** The largest datagram in bytes; 0 if there are none. */
  get maxDatagram(): number {
    return this.#maxDatagram;
  }

  /** Packets of the stream that have not arrived, and 1 more while it opens. */
  get underWay(): number {
    if (this.#isBroken || (this.#isDeaf.client && this.#isDeaf.server)) return 0;
    return (
      this.#lanes.up.underWay.length + this.#lanes.down.underWay.length + (this.#isOpen || this.#isDeaf.client ? 0 : 1)
    );
  }

  /** True once neither end can use the transport any more. */
  get isOver(): boolean {
    return this.#isBroken || (this.#isDeaf.client && (this.#isDeaf.server || !this.#isOpen));
  }

  // The participant's end.

  send(packet: Uint8Array<ArrayBuffer>): void {
    this.#unreported += 1;
    const { server } = this.#options;
    this.#fly(
      "up",
      packet.length,
      () => this.#sent(),
      () => this.#isDeaf.server || server.received(this, packet),
    );
  }

  sendDatagram(packet: Uint8Array<ArrayBuffer>): void {
    const { server, events } = this.#options;
    this.#flyAlone(
      "up",
      packet.length,
      () => this.#isDeaf.client || events.datagramSent(),
      () => this.#isDeaf.server || server.receivedDatagram(this, packet),
    );
  }

  release(): void {
    const unreported = this.#unreported;
    this.#unreported = 0;
    for (let at = 0; at < unreported; at += 1) this.#options.events.sent();
  }

  close(): void {
    if (this.#isDeaf.client) return;
    this.#isDeaf.client = true;
    this.#fly("up", 0, undefined, () => this.#closeServer());
  }

  // The server's end.

  serverSends(packet: Uint8Array): void {
    const { server, events } = this.#options;
    this.#fly(
      "down",
      packet.length,
      () => this.#isDeaf.server || server.sent(this),
      () => this.#isDeaf.client || events.received(packet),
    );
  }

  /** `reports`: the server is told when the datagram has left. */
  serverSendsDatagram(packet: Uint8Array, reports: boolean): void {
    const { server, events } = this.#options;
    this.#flyAlone(
      "down",
      packet.length,
      () => this.#isDeaf.server || !reports || server.datagramSent(this),
      () => this.#isDeaf.client || events.receivedDatagram(packet),
    );
  }

  /**
   * Closes the transport from the server's end, after an optional last packet. The server gets no
   * further event.
   */
  serverCloses(packet?: Uint8Array): void {
    if (packet) this.serverSends(packet);
    this.#isDeaf.server = true;
    this.#fly("down", 0, undefined, () => this.#closeClient("was closed by the server"));
  }

  // The network.

  /** The connection breaks: both ends notice at once, and what is under way is lost. */
  break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#closeServer();
    this.#closeClient("broke");
  }

  #open(): void {
    if (this.#isDeaf.client || this.#isBroken) return;
    const { server, events } = this.#options;
    if (!server.isUp) return this.#closeClient("was refused");
    this.#isOpen = true;
    server.opened(this);
    events.opened(this.#maxDatagram);
  }

  #closeClient(reason: string): void {
    if (this.#isDeaf.client) return;
    this.#isDeaf.client = true;
    this.#options.events.closed(reason);
  }

  #closeServer(): void {
    if (this.#isDeaf.server) return;
    this.#isDeaf.server = true;
    if (this.#isOpen) this.#options.server.closed(this);
  }

  #sent(): void {
    if (this.#unreported === 0 || this.#isDeaf.client) return;
    this.#unreported -= 1;
    this.#options.events.sent();
  }

  /** Sends a packet of the stream: it leaves, and it arrives after those before it. */
  #fly(way: Way, bytes: number, left: (() => void) | undefined, arrives: () => void): void {
    const { clock, path, log, sent } = this.#options;
    const lane = this.#lanes[way];
    const departure = path.departure(way, bytes);
    const { time, losses } = path.streamTime(way, bytes);
    if (losses > 0)
      log(() => `${bytes} bytes of the stream ${WAYS[way]} are lost and sent again, ${time.toFixed(0)} ms late`);
    if (bytes > 0) sent?.(way, { bytes, isDatagram: false, isLost: losses > 0 });
    lane.last = Math.max(lane.last, departure + time);
    lane.bytes += bytes;
    const isBlocked = lane.bytes > WINDOW;
    lane.underWay.push(() => {
      lane.bytes -= bytes;
      if (this.#isBroken) return;
      if (isBlocked) left?.();
      arrives();
    });
    // Each arrival brings the oldest packet, so that the order is kept even if a partition delays
    // some arrivals.
    clock.at(lane.last, () => path.arrive(way, () => lane.underWay.shift()?.()));
    if (left && !isBlocked) this.#leave(departure, left);
  }

  /** Sends a datagram: it leaves, and it arrives or is lost. */
  #flyAlone(way: Way, bytes: number, left: () => void, arrives: () => void): void {
    const { clock, path, log, sent } = this.#options;
    const departure = path.departure(way, bytes);
    this.#leave(departure, left);
    const time = path.datagramTime(way);
    const isLost = time === undefined || path.cutUntil !== undefined;
    sent?.(way, { bytes, isDatagram: true, isLost });
    if (time === undefined) return log(() => `a datagram of ${bytes} bytes ${WAYS[way]} is lost`);
    clock.at(departure + time, () => {
      if (this.#isBroken) return;
      if (path.cutUntil === undefined) arrives();
      else log(() => `a datagram of ${bytes} bytes ${WAYS[way]} is lost, as the network is away`);
    });
  }

  /** Calls `left` at the time of departure: now, or when earlier packets have left. */
  #leave(time: number, left: () => void): void {
    const { clock } = this.#options;
    if (time <= clock.now()) left();
    else clock.at(time, left);
  }
}

const WAYS: Readonly<Record<Way, string>> = { up: "to the server", down: "from the server" };
