/** Whether what each channel asks for is kept, as the clients measure it. */

import type { Contract, Room } from "groupwire/testing/page";
import { h, setText } from "./dom.js";
import type { Kind } from "./kind.js";

const STATES = { met: "kept", missed: "missed", "cannot-meet": "cannot be kept" };

/** The worst one first. */
const ORDER: readonly Contract["state"][] = ["cannot-meet", "missed", "met"];

interface Row {
  readonly channel: string;
  readonly element: HTMLElement;
  readonly state: HTMLElement;
  readonly why: HTMLElement;
}

export class Contracts {
  readonly element: HTMLElement;
  readonly #rows: readonly Row[];
  #rooms: readonly Pick<Room, "channel" | "stats">[] = [];

  constructor(channels: Kind["channels"]) {
    this.#rows = Object.entries(channels).map(([channel, { name, asks }]) => {
      const state = h("span", { class: "verdict" });
      const why = h("span", { class: "why" });
      const element = h("li", {}, h("strong", {}, name), state, h("span", { class: "asks" }, asks), why);
      element.dataset.channel = channel;
      return { channel, element, state, why };
    });
    const list = h("ul", { role: "list" }, ...this.#rows.map(({ element }) => element));
    const attributes = { class: "contracts", role: "group", "aria-label": "Is it kept?" };
    this.element = h("div", attributes, h("p", { class: "legend" }, "Is it kept?"), list);
  }

  watch(rooms: readonly Pick<Room, "channel" | "stats">[]): void {
    this.#rooms = rooms;
    this.show();
  }

  /** Shows the worst contract of all windows for each channel. */
  show(): void {
    for (const { channel, element, state, why } of this.#rows) {
      const contracts = this.#rooms.flatMap((room) => contractOf(room, channel) ?? []);
      const worst = ORDER.find((one) => contracts.some((contract) => contract.state === one));
      element.dataset.state = worst ?? "none";
      setText(state, worst ? STATES[worst] : "no messages yet");
      setText(why, explain(contracts.find((contract) => contract.state === worst)));
    }
  }
}

function contractOf(room: Pick<Room, "channel" | "stats">, channel: string): Contract | undefined {
  try {
    return room.channel(channel).contract;
  } catch {
    // The window has not opened the channel, or its room is closed.
    return undefined;
  }
}

function explain(contract: Contract | undefined): string {
  if (!contract) return "";
  const { judged, missed } = contract.recent;
  const { median } = contract.latency;
  if (judged === 0) return contract.breach ? sentence(contract.text) : "";
  const age = median === undefined ? "" : `, typically ${Math.round(median)} ms old`;
  if (contract.state !== "met") return sentence(contract.text);
  return `In the last ten seconds: ${missed} of ${judged} lost or late${age}.`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
