/** The channels: rates, ratio, promise, and how old messages are. */

import { h, say } from "./dom";
import type { ChannelView, Filter } from "./model";
import { AGES } from "./report";
import { ms, number, percent, promise, rate, ratio } from "./words";

export class Channels {
  readonly element = h("section", "channels");
  private readonly list = h("div", "cards");
  private readonly cards = new Map<number, Card>();

  constructor() {
    this.list.dataset.testid = "channels";
    this.element.append(h("h2", "", "Channels"), this.list);
  }

  show(views: readonly ChannelView[], filter: Filter): void {
    const ids = new Set(views.map(({ channel }) => channel.id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      card.element.remove();
      this.cards.delete(id);
    }
    for (const view of views) {
      let card = this.cards.get(view.channel.id);
      if (!card) {
        card = new Card();
        this.cards.set(view.channel.id, card);
        this.list.append(card.element);
      }
      card.show(view, filter);
    }
    if (views.length === 0) this.list.replaceChildren(h("p", "empty", "No channel was opened yet."));
  }
}

class Card {
  readonly element = h("article", "channel-card");
  private readonly name = h("h3");
  private readonly kind = h("span", "fact");
  private readonly promise = h("p", "promise");
  private readonly messages = h("b");
  private readonly sizes = h("b");
  private readonly ratio = h("b", "big");
  private readonly redundancy = h("b");
  private readonly missed = h("b");
  private readonly missedRow = figure("Missed / may be", this.missed);
  private readonly title = h("p", "histogram-title");
  private readonly histogram = h("div", "histogram");

  constructor() {
    const figures = h(
      "div",
      "figures",
      figure("Smaller", this.ratio),
      figure("Messages", this.messages),
      figure("Before → after", this.sizes),
      figure("Repeats", this.redundancy),
      this.missedRow,
    );
    this.histogram.setAttribute("role", "img");
    this.element.append(
      h("div", "channel-head", this.name, this.kind),
      this.promise,
      figures,
      this.title,
      this.histogram,
    );
  }

  show({ channel, perSecond, total, ages, missed }: ChannelView, { direction }: Filter): void {
    this.element.dataset.channel = channel.name;
    say(this.name, channel.name);
    say(this.kind, channel.kind);
    say(this.promise, `Promise: ${promise(channel)}.`);
    const recent = perSecond.after > 0 ? perSecond : total;
    say(this.ratio, ratio(recent.before, recent.after));
    say(this.messages, `${number(perSecond.messages)}/s`);
    say(this.sizes, `${rate(perSecond.before)} → ${rate(perSecond.after)}`);
    say(this.redundancy, recent.after > 0 ? percent(recent.repeated / recent.after) : "–");
    this.missedRow.hidden = missed === undefined;
    if (missed !== undefined) {
      say(this.missed, `${percent(missed)} / ${percent(channel.loss)}`);
      this.missed.classList.toggle("bad", missed > channel.loss);
    }
    this.showAges(ages, direction);
  }

  private showAges(ages: readonly number[], direction: Filter["direction"]): void {
    const all = ages.reduce((sum, count) => sum + count, 0);
    this.title.hidden = this.histogram.hidden = all === 0;
    if (all === 0) return;
    const when = direction === "in" ? "when they came to the server" : "when they left the server";
    const words = `Age of messages ${direction === "both" ? "at the server" : when}: half up to ${bound(ages, all, 0.5)}, 99 of 100 up to ${bound(ages, all, 0.99)}`;
    say(this.title, words);
    this.histogram.ariaLabel = words;
    const most = Math.max(...ages);
    const bars = ages.map((count, i) => {
      const bar = h("i");
      bar.style.height = `${(count / most) * 100}%`;
      const column = h("span", "column", bar, h("small", "", i < AGES.length ? String(AGES[i]) : "…"));
      column.title = `${label(i)}: ${count.toLocaleString("en")} messages`;
      return column;
    });
    this.histogram.replaceChildren(...bars);
  }
}

function figure(name: string, value: HTMLElement): HTMLElement {
  return h("div", "figure", h("span", "", name), value);
}

/** Up to which age so many of the messages are. */
function bound(ages: readonly number[], all: number, share: number): string {
  let sum = 0;
  const at = ages.findIndex((count) => (sum += count) >= all * share);
  return at >= 0 && at < AGES.length ? ms(AGES[at] ?? 0) : `more than ${ms(AGES.at(-1) ?? 0)}`;
}

function label(i: number): string {
  return i < AGES.length ? `up to ${ms(AGES[i] ?? 0)}` : "older";
}
