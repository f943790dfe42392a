/**
 * The download direction of a carrier: one growing response, or one response after the other. Each
 * kind has a file of its own.
 */

/** What a response reports. */
export interface DownEvents {
  /** Reported first: the carrier's id and the number of the first packet. */
  preamble(id: string, first: number): void;
  packet(packet: Uint8Array): void;
  /** The response has ended: completely if `broken` is undefined. */
  ended(broken?: string): void;
  /** The server says that the carrier is over or that it does not offer this kind. */
  refused(reason: string): void;
}

/** A response that is being read. */
export interface Down {
  /** Stops reading. Nothing is reported afterwards. */
  close(): void;
}

/** A kind of response: where and how it is requested. */
export interface DownKind {
  /** The path below `/http/`. */
  readonly path: "multipart" | "iframe" | "longpoll" | "poll";
  /**
   * True for a response that keeps growing and is renewed (T12); false if each response ends at
   * once.
   */
  readonly isStream: boolean;
  /** Milliseconds between requests; 0 if each request follows the previous response. */
  readonly interval: number;
  /** Sends a request with the given `body` (T9). Reports nothing before it returns. */
  open(url: string, body: string, events: DownEvents): Down;
}

/** Parses `id first` (T13, T14). */
export function readPreamble(text: string): { readonly id: string; readonly first: number } {
  const [, id, first] = /^([0-9a-f]{32}) ([0-9]{1,15})$/.exec(text) ?? [];
  if (!id || !first) throw new Error("no preamble of a carrier");
  return { id, first: Number(first) };
}
