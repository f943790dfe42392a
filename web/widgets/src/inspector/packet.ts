/** The contents of one packet: a sentence, a bar, and a list of its messages. */

import { dot, h, scrollable } from "../shared/dom.js";
import { PURPOSES, purposeOf, split, type Model, type PacketEntry } from "./model.js";
import { BYTE, type Packet, type Part } from "./report.js";
import { bytes, packetSentence, ms, number, PURPOSE_WORDS, ratio } from "./words.js";

/** Limit of listed messages, because a packet of late-joiner state may have thousands. */
const LISTED = 200;

export class PacketView {
  readonly element = h("section", "packet");

  constructor() {
    this.element.ariaLabel = "The contents of the packet";
    this.element.dataset.testid = "packet";
    this.element.ariaLive = "polite";
    this.show(undefined, undefined);
  }

  show(seen: PacketEntry | undefined, model: Model | undefined): void {
    if (!seen || !model) {
      const hint = h(
        "p",
        "empty",
        "Press a bar to see the contents of that packet. With the keyboard: Tab to the bars, then ← and →.",
      );
      this.element.replaceChildren(hint);
      return;
    }
    const { packet } = seen;
    this.element.replaceChildren(
      head(packet, model),
      sentence(packet, model),
      sizes(packet),
      scrollable(h("div", "scroll", messages(packet, model)), "Messages in the packet"),
    );
  }
}

function head(packet: Packet, model: Model): HTMLElement {
  const name = model.nameOf(packet.participant);
  const element = h(
    "div",
    "packet-head",
    dot(packet.participant),
    h("h3", "", packet.out ? `To ${name}` : `From ${name}`),
  );
  const facts = [packet.datagram ? "datagram" : "stream"];
  if (packet.group !== null) facts.push(`group ${packet.group}`);
  else if (packet.out) facts.push("for this participant only");
  if (packet.epoch !== null) facts.push(`epoch ${packet.epoch}`);
  facts.push(`${number(packet.at / 1000)} s`);
  for (const fact of facts) element.append(h("span", "fact", fact));
  return element;
}

function sentence(packet: Packet, model: Model): HTMLElement {
  const element = h("p", "sentence", packetSentence(packet, model));
  element.dataset.testid = "sentence";
  return element;
}

/** The packet's bytes by purpose, as a bar and a list. */
function sizes(packet: Packet): HTMLElement {
  const parts = split(packet);
  const bar = h("div", "stack");
  bar.ariaHidden = "true";
  const list = h("ul", "parts");
  list.dataset.testid = "parts";
  for (const purpose of PURPOSES) {
    if (parts[purpose] <= 0) continue;
    const segment = h("i", `segment ${purpose}`);
    segment.style.flexGrow = String(parts[purpose]);
    bar.append(segment);
    const row = h(
      "li",
      "",
      h("i", `swatch ${purpose}`),
      `${PURPOSE_WORDS[purpose]} `,
      h("b", "", bytes(parts[purpose])),
    );
    row.dataset.purpose = purpose;
    list.append(row);
  }
  return h("div", "sizes", bar, list);
}

function messages(packet: Packet, model: Model): HTMLElement {
  const table = h("table", "messages");
  const row = h("tr");
  for (const name of ["Channel", "From", "Why it is here", "Number", "Age", "Before → after"]) {
    const cell = h("th", "", name);
    cell.scope = "col";
    row.append(cell);
  }
  // The column of bars, which show the same.
  row.append(h("td"));
  table.append(h("thead", "", row));
  const largest = Math.max(1, ...packet.parts.map((part) => Math.max(part[4], part[6] / BYTE)));
  const body = h("tbody");
  for (const part of packet.parts.slice(0, LISTED)) body.append(message(part, model, largest));
  const more = packet.parts.length - LISTED;
  if (more > 0) body.append(wide(`and ${more} more`));
  const control = packet.header_bytes - packet.feedback_bytes;
  if (control > 0) body.append(wide(`Control: pings and their answers, participants: ${bytes(control)}`, "header"));
  if (packet.feedback_bytes > 0)
    body.append(wide(`Feedback, which packets came: ${bytes(packet.feedback_bytes)}`, "feedback"));
  if (packet.overhead > 0) {
    const what = packet.parts.length > 0 ? "Type, epoch, checksum and the rest of the last byte" : "Type";
    body.append(wide(`${what}: ${bytes(packet.overhead)}`, "header"));
  }
  table.append(body);
  return table;
}

function message(part: Part, model: Model, largest: number): HTMLElement {
  const [channel, sender, index, , before, age, cost] = part;
  const purpose = purposeOf(part[3]);
  const after = cost / BYTE;
  const bar = h("td", "compare");
  for (const [name, size] of [
    ["was", before],
    ["is", after],
  ] as const) {
    const one = h("i", name === "is" ? `is ${purpose}` : "was");
    one.style.width = `${(size / largest) * 100}%`;
    bar.append(one);
  }
  bar.ariaHidden = "true";
  const isSnapshot = channel === 0;
  const row = h(
    "tr",
    "",
    h("td", "channel", isSnapshot ? "(snapshot)" : (model.channel(channel)?.name ?? `channel ${channel}`)),
    h("td", "", ...(sender === 0 ? ["–"] : [dot(sender), model.nameOf(sender)])),
    h("td", "", h("span", `chip ${purpose}`, PURPOSE_WORDS[purpose])),
    h("td", "number", isSnapshot ? `from ${index}` : `#${index}`),
    h("td", "number", isSnapshot || purpose === "own" ? "–" : ms(age)),
    h(
      "td",
      "number",
      `${purpose === "own" ? "–" : before} → ${number(after)}`,
      h("span", "ratio", ratio(before, after)),
    ),
    bar,
  );
  row.dataset.testid = "message";
  return row;
}

function wide(text: string, purpose?: string): HTMLElement {
  const cell = h("td", "wide", purpose ? h("i", `swatch ${purpose}`) : undefined, text);
  cell.colSpan = 7;
  return h("tr", "", cell);
}
