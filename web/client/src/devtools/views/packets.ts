/** The tab about packets: a list as they go, and what the selected one carries. */

import { button, h, Rows, say, set, type Row } from "../dom.js";
import type { Carried, Packet } from "../packets.js";
import type { Watch } from "../watch.js";
import { LABELS } from "../../reasons.js";
import { bytes, clock, many } from "../words.js";
import type { View } from "./view.js";

/** Rows that are shown: more than anybody reads, and few enough to draw in each frame. */
const MOST_ROWS = 200;

export class PacketsView implements View {
  readonly title = "Packets";
  readonly #pause: HTMLButtonElement;
  readonly #way = h("select");
  readonly #text = h("input");
  readonly #only = h("input");
  readonly #list = h("div", "packets");
  readonly #details = h("div", "contents");
  readonly #rows = new Rows<Packet>(
    this.#list,
    ({ number }) => number,
    (packet) => this.#row(packet),
  );
  #shown: readonly Packet[] = [];
  #selected: Packet | undefined;
  /** The packets of the moment when the user paused the list; new ones are still recorded. */
  #paused: readonly Packet[] | undefined;
  readonly element: HTMLElement;

  constructor(readonly watch: Watch) {
    this.#pause = button("tool", "Pause", () => {
      this.#paused = this.#paused ? undefined : watch.packets.newestFirst();
      this.show();
    });
    const clear = button("tool", "Clear", () => {
      watch.packets.clear();
      this.#paused &&= [];
      this.show();
    });
    for (const [value, label] of [
      ["", "both directions"],
      ["in", "received"],
      ["out", "sent"],
    ] as const) {
      const option = h("option", "", label);
      option.value = value;
      this.#way.append(option);
    }
    set(this.#way, "aria-label", "Direction");
    this.#text.type = "search";
    this.#text.placeholder = "Channel or text";
    set(this.#text, "aria-label", "Filter by channel or text");
    this.#only.type = "checkbox";
    this.#only.checked = true;
    for (const input of [this.#way, this.#text, this.#only]) input.addEventListener("input", () => this.show());
    this.#list.tabIndex = 0;
    set(this.#list, "role", "listbox");
    set(this.#list, "aria-label", "Packets, the newest first");
    // Not a click, which needs the row to stay where it is until the button is released.
    this.#list.addEventListener("pointerdown", ({ target }) => {
      const row = (target as Element).closest(".packet");
      const packet = this.#shown.find(({ number }) => row?.id === idOf(number));
      if (packet) this.#select(packet);
    });
    this.#list.addEventListener("keydown", (event) => this.#move(event));
    set(this.#details, "role", "region");
    set(this.#details, "aria-label", "What the packet carries");
    this.#details.tabIndex = 0;
    const tools = h("div", "tools", this.#pause, clear, this.#way, this.#text);
    tools.append(h("label", "", this.#only, " only with messages"));
    this.element = h("div", "packet-view", tools, h("div", "split", this.#list, this.#details));
    this.#describe();
  }

  show(): void {
    say(this.#pause, this.#paused ? "Resume" : "Pause");
    this.#pause.classList.toggle("on", this.#paused !== undefined);
    const found: Packet[] = [];
    for (const packet of this.#paused ?? this.watch.packets.newestFirst()) {
      if (this.#isWanted(packet)) found.push(packet);
      if (found.length === MOST_ROWS) break;
    }
    this.#shown = found;
    this.#rows.show(found);
    if (this.#selected && !this.#isShown(this.#selected)) this.#list.removeAttribute("aria-activedescendant");
  }

  #isWanted({ way, contents }: Packet): boolean {
    if (this.#way.value !== "" && way !== this.#way.value) return false;
    const text = this.#text.value.trim().toLowerCase();
    const { messages } = contents;
    if (text === "") return messages.length > 0 || !this.#only.checked;
    return messages.some((message) => `${message.channel} ${message.text}`.toLowerCase().includes(text));
  }

  #isShown(packet: Packet): boolean {
    return this.#shown.includes(packet);
  }

  #row(packet: Packet): Row<Packet> {
    const what = h("span", "what");
    const element = h(
      "div",
      `packet ${packet.way}`,
      h("span", "way", packet.way === "in" ? "← in" : "→ out"),
      h("time", "", clock(packet.at, true)),
      h("span", "size", bytes(packet.bytes)),
      h("span", "carrier", packet.carrier),
      what,
    );
    element.id = idOf(packet.number);
    set(element, "role", "option");
    let told: Packet["contents"] | undefined;
    return {
      element,
      update: () => {
        if (told !== packet.contents) say(what, summary(packet));
        told = packet.contents;
        set(element, "aria-selected", `${packet === this.#selected}`);
      },
    };
  }

  #select(packet: Packet): void {
    this.#selected = packet;
    // The list stops, as rows that move away cannot be compared.
    this.#paused ??= this.watch.packets.newestFirst();
    set(this.#list, "aria-activedescendant", idOf(packet.number));
    this.#describe();
    this.show();
    const row = this.#list.querySelector(`#${idOf(packet.number)}`);
    row?.scrollIntoView?.({ block: "nearest" });
  }

  #move(event: KeyboardEvent): void {
    const { key } = event;
    const at = this.#selected ? this.#shown.indexOf(this.#selected) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#shown.length - 1 }[key];
    if (to === undefined) return;
    event.preventDefault();
    const packet = this.#shown[Math.max(0, Math.min(to, this.#shown.length - 1))];
    if (packet) this.#select(packet);
  }

  #describe(): void {
    const packet = this.#selected;
    if (!packet) {
      this.#details.replaceChildren(h("p", "quiet", "Select a packet to see which messages it carries."));
      return;
    }
    const { way, carrier, transport, contents } = packet;
    const { packets, payload, messages, notes } = contents;
    const over = transport ? ` over ${LABELS[transport]}` : "";
    const head = `${way === "in" ? "Received" : "Sent"}${over}, in ${carrier === "stream" ? "the stream" : "a datagram"}`;
    const together = packets > 1 ? `The client made ${packets} packets in one go; together they carry:` : "";
    const plainBytes = messages.reduce((sum, { bytes }) => sum + bytes, 0);
    const sizes =
      messages.length > 0
        ? `${bytes(plainBytes)} of messages, ${bytes(payload)} of payload${packets > 1 ? "" : `, ${bytes(packet.bytes)} in all`}`
        : `${bytes(packet.bytes)}: no message of the program`;
    this.#details.replaceChildren(
      h("p", "", h("b", "", head), ` at ${clock(packet.at, true)}`),
      h("p", "quiet", together === "" ? sizes : `${together} ${sizes}`),
      h("ul", "carried", ...messages.map(carriedRow), ...notes.map((note) => h("li", "quiet", note))),
    );
  }
}

/** The id of a packet's row within the shadow root. */
function idOf(number: number): string {
  return `packet-${number}`;
}

function summary({ contents: { messages, notes } }: Packet): string {
  const byChannel = new Map<string, number>();
  for (const { channel, count } of messages) byChannel.set(channel, (byChannel.get(channel) ?? 0) + count);
  const parts = [...byChannel].map(([channel, count]) => (count > 1 ? `${channel} ×${count}` : channel));
  return [...parts, ...notes].join(", ") || "control only";
}

const KINDS = { message: "", own: "confirmed", direct: "for one participant" };

function carriedRow({ channel, count, bytes: size, text, sender, key, kind }: Carried): HTMLElement {
  const facts = [
    count > 1 ? many(count, "message") : "",
    bytes(size),
    sender === undefined || kind === "own" ? "" : sender === 0 ? "from the room" : `from participant ${sender}`,
    key === undefined ? "" : `key "${key}"`,
    KINDS[kind],
  ];
  return h(
    "li",
    "",
    h("b", "", channel),
    ` ${facts.filter(Boolean).join(", ")}`,
    text === "" ? undefined : h("code", "", text),
  );
}
