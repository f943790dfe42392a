/** The packets as they go, and what they take of each message. */

import type { Packet, Room } from "groupwire/testing/page";
import { h, setText } from "./dom.js";

/** The packets that the strip shows. */
const SHOWN = 60;

/** A bar of this many bytes has the full height. */
const TALLEST = 60;

/** Numbers are those of this many milliseconds. */
const WINDOW_MS = 3000;

interface Sample {
  readonly at: number;
  readonly messages: number;
  readonly before: number;
  readonly payload: number;
  readonly packets: number;
  readonly bytes: number;
}

export class Traffic {
  readonly element: HTMLElement;
  readonly #strip = h("div", { class: "strip", role: "img" });
  readonly #bars = Array.from({ length: SHOWN }, () => h("i"));
  readonly #last = h("p", { class: "last" });
  readonly #json = h("td", { class: "json" });
  readonly #wire = h("td", { class: "wire" });
  readonly #rate = h("td", { class: "rate" });
  readonly #note = h("p", { class: "note" });
  #rooms: readonly Pick<Room, "channel" | "stats">[] = [];
  #packets: Packet[] = [];
  #count = 0;
  #bytes = 0;
  #samples: Sample[] = [];

  /** `message` names a message before it is compressed. */
  constructor(message = "A message as JSON") {
    this.#strip.append(...this.#bars);
    const row = (label: string, cell: HTMLElement): HTMLElement => h("tr", {}, h("th", { scope: "row" }, label), cell);
    this.element = h(
      "div",
      { class: "traffic", role: "group", "aria-label": "Bytes" },
      h("p", { class: "legend" }, "Bytes"),
      h(
        "table",
        {},
        h(
          "tbody",
          {},
          row(message, this.#json),
          row("The same on the wire", this.#wire),
          row("All packets", this.#rate),
        ),
      ),
      this.#strip,
      h(
        "p",
        { class: "key", "aria-hidden": "true" },
        ...Object.entries(KEY).map(([kind, name]) => h("span", {}, h("i", { class: kind }), name)),
      ),
      this.#last,
      this.#note,
    );
  }

  watch(rooms: readonly Pick<Room, "channel" | "stats">[]): void {
    this.#rooms = rooms;
    this.#packets = [];
    this.#samples = [];
    this.#count = this.#bytes = 0;
    this.show();
  }

  add(packet: Packet): void {
    this.#count += 1;
    this.#bytes += packet.bytes;
    this.#packets.push(packet);
    if (this.#packets.length > SHOWN) this.#packets.shift();
  }

  show(): void {
    this.#showPackets();
    const first = this.#sample();
    const last = this.#samples.at(-1) ?? first;
    const messages = last.messages - first.messages;
    if (messages > 0) {
      const each = (bytes: number): string => `${(bytes / messages).toFixed(1)} bytes`;
      const factor = (last.before - first.before) / (last.payload - first.payload);
      setText(this.#json, each(last.before - first.before));
      setText(this.#wire, `${each(last.payload - first.payload)}${smaller(factor)}`);
    } else if (this.#json.textContent === "") {
      setText(this.#json, "–");
      setText(this.#wire, "–");
    }
    const seconds = Math.max(0.3, (last.at - first.at) / 1000);
    const perSecond = (value: number): string => Math.round(value / seconds).toLocaleString("en");
    setText(this.#rate, `${perSecond(last.bytes - first.bytes)} bytes a second`);
    setText(this.#note, this.#explain(last));
  }

  /** Why messages are not smaller yet. */
  #explain({ before, payload }: Sample): string {
    if (this.#rooms.some(({ stats }) => stats.plain !== undefined)) return "The part that compresses is still loading.";
    return payload > before ? "The first messages teach both ends what later ones will share." : "";
  }

  #showPackets(): void {
    const from = SHOWN - this.#packets.length;
    this.#bars.forEach((bar, at) => {
      const packet = this.#packets[at - from];
      bar.className = packet ? kindOf(packet) : "";
      bar.style.height = packet ? `${Math.max(6, Math.min(1, packet.bytes / TALLEST) * 100)}%` : "0";
    });
    const packet = this.#packets.at(-1);
    const sizes = this.#packets.map(({ bytes }) => bytes);
    const label = packet
      ? `The last ${sizes.length} packets, ${Math.min(...sizes)} to ${Math.max(...sizes)} bytes each`
      : "No packets yet";
    this.#strip.setAttribute("aria-label", label);
    setText(
      this.#last,
      packet
        ? `Last packet: ${packet.bytes} bytes ${packet.way === "up" ? "from" : "to"} ${packet.who}, ${KINDS[kindOf(packet)]}`
        : "",
    );
  }

  /** Counts now; returns the counts from the beginning of the time that is shown. */
  #sample(): Sample {
    const at = performance.now();
    const sum = { messages: 0, before: 0, payload: 0 };
    for (const { stats } of this.#rooms) {
      sum.messages += stats.received.messages;
      sum.before += stats.received.bytesBefore;
      sum.payload += stats.received.bytesPayload;
    }
    const sample = { at, ...sum, packets: this.#count, bytes: this.#bytes };
    this.#samples.push(sample);
    while (this.#samples.length > 2 && at - (this.#samples[0]?.at ?? at) > WINDOW_MS) this.#samples.shift();
    return this.#samples[0] ?? sample;
  }
}

const KEY = { datagram: "datagram", stream: "stream", lost: "lost" };
const KINDS = { stream: "in the stream", datagram: "a datagram", lost: "lost on the way" };

function kindOf({ isLost, isDatagram }: Packet): keyof typeof KINDS {
  return isLost ? "lost" : isDatagram ? "datagram" : "stream";
}

function smaller(factor: number): string {
  return factor > 1.05 && Number.isFinite(factor) ? `, ${factor.toFixed(1)} times smaller` : "";
}
