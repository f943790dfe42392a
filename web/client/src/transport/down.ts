/** The way down of a carrier: responses, one after the other or one growing. Each kind has a file of its own. */

/** What a response brings. */
export interface DownEvents {
  /** First of all: the carrier's id and the number of the first packet. */
  preamble(id: string, first: number): void;
  packet(packet: Uint8Array): void;
  /** It is over: as it should (undefined), or broken. */
  ended(broken?: string): void;
  /** The server says that the carrier is over, or does not do this. */
  refused(reason: string): void;
}

/** A response that is being read. */
export interface Down {
  /** Nothing is reported any more. */
  close(): void;
}

/** Where and how responses are asked for. */
export interface DownKind {
  /** Below `/http/`. */
  readonly path: "multipart" | "iframe" | "longpoll" | "poll";
  /** Grows for long and is renewed (T12); else each answer ends at once. */
  readonly isStream: boolean;
  /** Milliseconds from one request to the next; 0: the next follows the answer. */
  readonly interval: number;
  /** Asks. `body` as T9 has it. Reports nothing before it returns. */
  open(url: string, body: string, events: DownEvents): Down;
}

/** Reads `id first` (T13, T14). */
export function readPreamble(text: string): { readonly id: string; readonly first: number } {
  const [, id, first] = /^([0-9a-f]{32}) ([0-9]{1,15})$/.exec(text) ?? [];
  if (!id || !first) throw new Error("no preamble of a carrier");
  return { id, first: Number(first) };
}
