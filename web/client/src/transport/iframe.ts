/** A hidden iframe whose document keeps growing by one script call per packet (T14). */

import type { Down, DownEvents, DownKind } from "./down.js";
import { readPreamble } from "./down.js";
import { MAX_PACKET } from "./link.js";

export const iframe: DownKind = {
  path: "iframe",
  isStream: true,
  interval: 0,
  open: (url, body, events) => new Frame(url, body, events),
};

let frames = 0;

class Frame implements Down {
  readonly #frame = document.createElement("iframe");
  readonly #end = new AbortController();
  readonly #origin: string;
  readonly #events: DownEvents;
  #id: string | undefined;

  constructor(url: string, body: string, events: DownEvents) {
    this.#events = events;
    this.#origin = new URL(url).origin;
    this.#frame.hidden = true;
    this.#frame.name = `groupwire-${(frames += 1)}`;
    this.#frame.title = "Groupwire";
    this.#frame.tabIndex = -1;
    const { signal } = this.#end;
    window.addEventListener("message", (event) => this.#take(event), { signal });
    // If the page is still loading, an iframe would keep it from finishing.
    if (document.readyState === "complete") queueMicrotask(() => this.#submit(url, body));
    else window.addEventListener("load", () => setTimeout(() => this.#submit(url, body)), { signal, once: true });
  }

  close(): void {
    this.#end.abort();
    this.#frame.remove();
  }

  #submit(url: string, body: string): void {
    const { signal } = this.#end;
    if (signal.aborted) return;
    document.documentElement.append(this.#frame);
    const form = document.createElement("form");
    form.hidden = true;
    form.method = "post";
    form.action = url;
    form.target = this.#frame.name;
    for (const [name, value] of new URLSearchParams(body)) {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      field.value = value;
      form.append(field);
    }
    document.documentElement.append(form);
    form.submit();
    form.remove();
    // The document has ended: completely, broken, or with a refusal. The next request shows which.
    this.#frame.addEventListener("load", () => this.#isBlank() || this.#over(), { signal });
  }

  /**
   * True for the blank document that every iframe begins with; some browsers report its load event
   * late.
   */
  #isBlank(): boolean {
    try {
      return this.#frame.contentWindow?.location.href === "about:blank";
    } catch {
      // The document is of another origin, so it is the server's.
      return false;
    }
  }

  #over(): void {
    if (this.#id === undefined) this.#events.refused("was refused");
    else this.#events.ended();
  }

  #take({ source, origin, data }: MessageEvent<unknown>): void {
    if (!source || source !== this.#frame.contentWindow || origin !== this.#origin) return;
    if (!Array.isArray(data) || data[0] !== "groupwire" || typeof data[2] !== "string") return;
    const [, id, text] = data as [string, unknown, string];
    try {
      if (this.#id === undefined) {
        const preamble = readPreamble(text);
        if (preamble.id !== id) return;
        this.#id = preamble.id;
        this.#events.preamble(preamble.id, preamble.first);
      } else if (id === this.#id) this.#events.packet(fromBase64(text));
    } catch {
      this.close();
      this.#events.ended("broke");
    }
  }
}

/** Decodes base64. Throws if it is invalid or longer than any packet. */
export function fromBase64(text: string): Uint8Array {
  const packet = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  if (packet.length > MAX_PACKET) throw new Error(`a packet of ${packet.length} bytes`);
  return packet;
}
