/** What is remembered of a server from one visit to the next: that the best transport does not work here. */

import type { TransportName } from "./api.js";

/** A day: networks change more often, and it is only where the search begins. */
const TERM_MS = 86_400_000;

/** That the best has worked here before is worth knowing for longer: then a failure is a passing one. */
const WORKED_TERM_MS = 30 * TERM_MS;

export interface Memory {
  /** What to begin with instead of `best`, if that never worked. */
  recall(best: TransportName): TransportName | undefined;
  /** `name` carried a session. */
  worked(name: TransportName, best: TransportName): void;
  /** `best` failed while `name` works. */
  fellBack(name: TransportName, best: TransportName): void;
}

interface Entry {
  readonly best: TransportName;
  /** What works instead; undefined: the best itself. */
  readonly instead?: TransportName;
  /** Of the clock on the wall. */
  readonly until: number;
}

/** In `localStorage`, if there is one and it may be used; else nothing is remembered. */
export class StoredMemory implements Memory {
  readonly #key: string;

  constructor(server: URL) {
    this.#key = `groupwire ${server.host}`;
  }

  recall(best: TransportName): TransportName | undefined {
    return this.#read(best)?.instead;
  }

  worked(name: TransportName, best: TransportName): void {
    if (name === best) this.#write({ best, until: Date.now() + WORKED_TERM_MS });
  }

  fellBack(instead: TransportName, best: TransportName): void {
    const before = this.#read(best);
    if (before && before.instead === undefined) return;
    this.#write({ best, instead, until: Date.now() + TERM_MS });
  }

  #read(best: TransportName): Entry | undefined {
    try {
      const entry = JSON.parse(localStorage.getItem(this.#key) ?? "null") as Entry | null;
      return entry?.best === best && entry.until > Date.now() ? entry : undefined;
    } catch {
      return undefined;
    }
  }

  #write(entry: Entry): void {
    try {
      localStorage.setItem(this.#key, JSON.stringify(entry));
    } catch {
      // Private windows, sandboxed frames, a full disk.
    }
  }
}
