/** What the ways to the server have in common. Each kind of link has a file of its own beside this one. */

/** One way to the server, open or opening: as the session core needs it. At most two packets and two datagrams wait. */
export interface Link {
  /** Arrives once and in order, or the link ends. */
  send(packet: Uint8Array<ArrayBuffer>): void;
  /** May be lost. Only on links that opened with room for datagrams. */
  sendDatagram(packet: Uint8Array<ArrayBuffer>): void;
  /**
   * Reports all packets as sent, whether they have left or not: the last ones may then be handed over as well. `goes`:
   * the page does not live until the answer.
   */
  release(goes: boolean): void;
  /** Closes after what was sent has left. Nothing is reported any more. */
  close(): void;
}

/** What a link reports, never while it is being made. */
export interface LinkEvents {
  /** `maxDatagram`: bytes that a datagram may have; 0 where there are none. */
  opened(maxDatagram: number): void;
  received(packet: Uint8Array): void;
  receivedDatagram(packet: Uint8Array): void;
  /** One packet has left for the network. */
  sent(): void;
  /** One datagram has left, or was dropped. */
  datagramSent(): void;
  /** It could not be opened, or broke. `reason` goes on after the link's name: "did not answer", for example. */
  closed(reason: string): void;
}

/** The largest packet that a server may send: what the core's HELLO says (`DEFAULT_MAX_PACKET` in crates/session). */
export const MAX_PACKET = 65_536;

/** A reason to close: all responses that a browser can hold are taken (T20). Polling still works. */
export const FULL = "would be the fifth response that this browser holds of this server";
