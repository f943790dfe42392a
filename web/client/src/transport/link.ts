/**
 * The interface of all links to the server. Each kind of link has a file of its own beside this
 * one.
 */

/**
 * A connection to the server, open or opening. The core submits at most two packets and two
 * datagrams that have not left.
 */
export interface Link {
  /** Sends a packet, which arrives once and in order unless the link breaks. */
  send(packet: Uint8Array<ArrayBuffer>): void;
  /**
   * Sends a datagram, which may be lost. Only for links that opened with a datagram size above 0.
   */
  sendDatagram(packet: Uint8Array<ArrayBuffer>): void;
  /**
   * Reports all packets as sent although some may still wait, so that the core hands over its last
   * ones. `pageCloses`: the page will be gone before an answer comes.
   */
  release(pageCloses: boolean): void;
  /** Closes after all packets have left. Nothing is reported afterwards. */
  close(): void;
}

/** The events of a link. A link reports none while it is being constructed. */
export interface LinkEvents {
  /**
   * The link is open. `maxDatagram` is the largest datagram in bytes, 0 if there are no datagrams.
   */
  opened(maxDatagram: number): void;
  received(packet: Uint8Array): void;
  receivedDatagram(packet: Uint8Array): void;
  /** One packet has left for the network. */
  sent(): void;
  /** One datagram has left, or was dropped. */
  datagramSent(): void;
  /**
   * The link could not be opened, or broke. `reason` is a phrase that follows the transport's name,
   * such as "did not answer".
   */
  closed(reason: string): void;
}

/**
 * The largest packet that a server may send, as the core's HELLO says (`DEFAULT_MAX_PACKET` in
 * crates/session).
 */
export const MAX_PACKET = 65_536;

/**
 * A reason to close: all responses that a browser may hold open are taken (T20). Polling still
 * works.
 */
export const FULL = "would be the fifth response that this browser holds of this server";
