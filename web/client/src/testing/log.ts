/** What happened in a simulation, in plain words, for the reader of a failing test. */

/** Lines that are kept. Older ones are left out. */
const MAX_LINES = 2000;

/** The most characters of a message that the log shows. */
const SHOWN = 80;

type LogLine = readonly [at: number, text: () => string];

export class Log {
  /** The kept lines; the oldest is at `#first`. */
  readonly #lines: LogLine[] = [];
  #first = 0;
  #dropped = 0;

  /** Adds a line. `text` is called only if somebody reads the log. */
  add(at: number, text: () => string): void {
    if (this.#lines.length < MAX_LINES) {
      this.#lines.push([at, text]);
      return;
    }
    this.#lines[this.#first] = [at, text];
    this.#first = (this.#first + 1) % MAX_LINES;
    this.#dropped += 1;
  }

  /** All kept lines, or the last ones, each with its time in milliseconds. */
  text(last = MAX_LINES): string {
    const kept = [...this.#lines.slice(this.#first), ...this.#lines.slice(0, this.#first)];
    const shown = kept.slice(-last);
    const left = this.#dropped + kept.length - shown.length;
    const lines = shown.map(([at, text]) => `${at.toFixed(1).padStart(9)} ms  ${text()}`);
    if (left > 0) lines.unshift(`(${left} earlier lines are left out)`);
    return lines.join("\n");
  }
}

/** The beginning of a message, for the log. */
export function shown(data: string | Uint8Array): string {
  if (typeof data !== "string") return `${data.length} bytes`;
  return data.length <= SHOWN ? data : `${data.slice(0, SHOWN)}…`;
}
