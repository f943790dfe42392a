/**
 * The tab about channels: what each promises, whether the contract is kept, and how much goes
 * through it.
 */

import type { RoomChannel } from "../../channel.js";
import { h, Rows, say, scrollable, set, type Row } from "../dom.js";
import { Rates, type Rate } from "../rates.js";
import type { Watch } from "../watch.js";
import { bytes, kept, many, promise, rate, total } from "../words.js";
import type { View } from "./view.js";

const HEADS = ["Channel", "Promise", "Kept", "Received", "Sent"];

const VERDICTS = { met: "kept", missed: "missed", "cannot-meet": "cannot be kept" };

export class ChannelsView implements View {
  readonly title = "Channels";
  readonly #rates = new Rates();
  readonly #body = h("tbody");
  readonly #rows = new Rows<RoomChannel>(
    this.#body,
    (channel) => channel,
    (channel) => this.#row(channel),
  );
  readonly #empty = h("p", "quiet", "The program has opened no channel.");
  readonly #table = h("table", "", h("thead", "", h("tr", "", ...HEADS.map((head) => h("th", "", head)))), this.#body);
  readonly element = h("div", "", scrollable(h("div", "wide", this.#table), "Channels"), this.#empty);

  constructor(readonly watch: Watch) {}

  get mark(): string {
    const missed = this.watch.missed.length;
    return missed > 0 ? `${missed} missed` : "";
  }

  show(): void {
    const { channels, room } = this.watch;
    this.#rates.look(performance.now(), room.stats);
    this.#empty.hidden = channels.length > 0;
    this.#table.hidden = channels.length === 0;
    this.#rows.show(channels);
  }

  #row(channel: RoomChannel): Row<RoomChannel> {
    const [promised, received, sent] = [h("td"), h("td"), h("td")];
    const [verdict, judged, measures] = [h("b"), h("span"), h("p")];
    // On narrow screens each channel is a card, in which the heads of columns are names of facts.
    set(promised, "data-head", "promises");
    set(received, "data-head", "received");
    set(sent, "data-head", "sent");
    const name = h("th", "", channel.name, h("span", "kind", channel.qos.kind));
    name.scope = "row";
    const element = h("tr", "", name, promised, h("td", "", verdict, " ", judged, measures), received, sent);
    return {
      element,
      update: () => {
        const { qos, contract } = channel;
        say(promised, promise(qos));
        verdict.className = contract ? contract.state : "";
        say(verdict, contract ? VERDICTS[contract.state] : "");
        const why = contract && contract.state !== "met" ? `${contract.text}: ` : "";
        say(judged, contract ? why + kept(contract) : "no report yet");
        say(measures, contract?.measures.map(({ text }) => text).join("; ") ?? "");
        const { stats } = this.watch.room;
        for (const [cell, way] of [
          [received, "received"],
          [sent, "sent"],
        ] as const) {
          say(cell, flow(total(stats.channels.get(channel.name)?.[way]), this.#rates.of(channel.name, way)));
        }
      },
    };
  }
}

function flow(all: { readonly messages: number; readonly bytes: number }, now: Rate | undefined): string {
  const speed = now ? `${rate(now.messages)}/s, ${bytes(now.bytes)}/s; ` : "";
  return `${speed}${many(all.messages, "message")}, ${bytes(all.bytes)}`;
}
