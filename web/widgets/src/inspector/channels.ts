/** The channels of a room: rates, ratio, QoS contract, and the age of messages. */

import { h, say, scrollable } from "../shared/dom.js";
import type { ChannelView, Filter, Reception } from "./model.js";
import { AGES, type Channel, type Tally } from "./report.js";
import { codeSet, ms, number, percent, qosSummary, rate, ratio, tolerated } from "./words.js";

/** The height of a histogram's tallest bar, in pixels; the labels are below it. */
const TALLEST = 36;

export class Channels {
  readonly element = scrollable(h("section", "channels"), "Channels");
  private readonly list = h("div", "cards");
  private readonly none = h("p", "empty", "No channel is open yet.");
  private readonly cards = new Map<number, Card>();

  constructor() {
    this.list.dataset.testid = "channels";
    this.element.append(h("h2", "", "Channels"), this.list, this.none);
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
    this.none.hidden = views.length > 0;
  }
}

class Card {
  readonly element = h("article", "channel-card");
  private readonly name = h("h3");
  private readonly kind = h("span", "fact");
  private readonly qos = h("p", "qos");
  private readonly ratio = new Figure(
    "Smaller",
    "Bytes of messages as applications sent them, divided by their bytes in packets, since the room is inspected. Headers of packets are apart.",
  );
  private readonly messages = new Figure("Messages", "New messages. Repeats are not counted.");
  private readonly sizes = new Figure(
    "Before → after",
    "Bytes of messages as applications sent them, and their bytes in packets.",
  );
  private readonly redundancy = new Figure("Repeats", "The share of this channel's bytes that is spent on repeats.");
  private readonly code = new Figure(
    "Code set",
    "The earlier messages that datagrams repeat. Chosen by the loss of the path and the loss that the channel permits.",
  );
  private readonly saved = new Figure(
    "Saved by repeats",
    "Messages that came in time only because they were repeated, since this transport opened.",
  );
  private readonly missed = new Figure(
    "Missed (MER)",
    "Message error rate: the share of messages that never came or came after the deadline, in the last ten seconds, and the target. The mark on the bar is the target.",
  );
  private readonly meter = h("div", "meter");
  private readonly upstream = new Figure(
    "Missed towards the server",
    "The share of messages that were lost or late between the participants and the server.",
  );
  private readonly rate = new Figure(
    "Rate received",
    "Values per second, while the sender sent at the minimum rate or more.",
  );
  private readonly limit = new Figure(
    "Rate limit",
    "Values of each key per second that the participant requested at most; the server leaves out older ones.",
  );
  private readonly title = h("p", "histogram-title");
  private readonly histogram = h("div", "histogram");

  constructor() {
    this.ratio.value.classList.add("big");
    this.missed.value.dataset.testid = "missed";
    this.meter.ariaHidden = "true";
    const sent = [this.ratio, this.messages, this.sizes, this.redundancy, this.code, this.saved, this.limit];
    const kept = [this.missed, this.upstream, this.rate];
    this.histogram.setAttribute("role", "img");
    this.element.append(
      h("div", "channel-head", this.name, this.kind),
      this.qos,
      h("div", "figures", ...sent.map(({ element }) => element)),
      h("div", "figures kept", ...kept.map(({ element }) => element)),
      this.meter,
      this.title,
      this.histogram,
    );
  }

  show(view: ChannelView, { direction }: Filter): void {
    const { channel, perSecond, total } = view;
    this.element.dataset.channel = channel.name;
    say(this.name, channel.name);
    say(this.kind, channel.kind);
    say(this.qos, `Contract: ${qosSummary(channel)}.`);
    const recent = perSecond.after > 0 ? perSecond : total;
    this.ratio.say(ratio(total.before, total.after));
    this.messages.say(`${number(perSecond.messages)}/s`);
    this.sizes.say(`${rate(perSecond.before)} → ${rate(perSecond.after)}`);
    this.redundancy.say(recent.after > 0 ? percent(recent.repeated / recent.after) : "–");
    // If receivers have different code sets, selecting one receiver shows its own.
    const [code, ...others] = view.codes;
    this.code.say(code && (others.length > 0 ? `${others.length + 1} kinds` : codeSet(code)));
    this.limit.say(view.limit === undefined ? undefined : `${number(view.limit)}/s`);
    this.showKept(view);
    if (view.received && direction !== "in") this.showLatency(channel, view.received);
    else this.showAges(view.ages, direction);
  }

  /** Shows how well the contract is kept, as receivers report it. */
  private showKept({ channel, received, sent }: ChannelView): void {
    const target = tolerated(channel);
    const missed = received && share(received.tally);
    this.missed.say(missed === undefined ? undefined : `${percent(missed)}, target ${percent(target)}`);
    this.missed.value.classList.toggle("bad", missed !== undefined && missed > target);
    this.meter.hidden = missed === undefined;
    if (missed !== undefined) this.showMeter(missed, target);
    this.saved.say(received && received.saved > 0 ? number(received.saved) : undefined);
    this.upstream.say(sent && percent(share(sent)));
    const came = received?.one?.rate ?? null;
    const least = channel.rate_min > 0 ? ` of ${number(channel.rate_min)}/s` : "";
    this.rate.say(came === null || channel.rate_min === 0 ? undefined : `${number(came)}/s${least}`);
    this.rate.value.classList.toggle("bad", came !== null && came < channel.rate_min);
  }

  /** The full length of the meter is twice the target. */
  private showMeter(missed: number, target: number): void {
    const part = target > 0 ? Math.min(missed / target / 2, 1) : Number(missed > 0);
    this.meter.style.setProperty("--part", `${part * 100}%`);
    this.meter.classList.toggle("bad", missed > target);
  }

  private showLatency(channel: Channel, { ages, one }: Reception): void {
    const all = ages.reduce((sum, count) => sum + count, 0);
    const [median, most] = one
      ? [`up to ${ms(one.median)}`, `up to ${ms(one.p99)}`]
      : [`up to ${bound(ages, all, 0.5)}`, `up to ${bound(ages, all, 0.99)}`];
    const words = `Latency from application to application: median ${median}, 99 % ${most}`;
    this.draw(ages, words, (i) => channel.deadline !== null && i > 0 && (AGES[i - 1] ?? 0) >= channel.deadline);
  }

  private showAges(ages: readonly number[], direction: Filter["direction"]): void {
    const all = ages.reduce((sum, count) => sum + count, 0);
    const when = direction === "in" ? "when they reached the server" : "when they left the server";
    const words = `Age of messages ${direction === "both" ? "at the server" : when}: median up to ${bound(ages, all, 0.5)}, 99 % up to ${bound(ages, all, 0.99)}`;
    this.draw(ages, words, () => false);
  }

  private draw(ages: readonly number[], words: string, isLate: (i: number) => boolean): void {
    const most = Math.max(...ages);
    this.title.hidden = this.histogram.hidden = most === 0;
    if (most === 0) return;
    say(this.title, words);
    this.histogram.ariaLabel = words;
    const columns = ages.map((count, i) => {
      const bar = h("i", isLate(i) ? "late" : "");
      bar.style.height = `${(count / most) * TALLEST}px`;
      const column = h("span", "column", bar, h("small", "", i < AGES.length ? String(AGES[i]) : "…"));
      column.title = `${label(i)}: ${count.toLocaleString("en")} messages${isLate(i) ? ", after the deadline" : ""}`;
      return column;
    });
    this.histogram.replaceChildren(...columns);
  }
}

/** A figure: its name and its value. Hidden while the value is unknown. */
class Figure {
  readonly value = h("b");
  readonly element: HTMLElement;

  constructor(name: string, explanation: string) {
    this.element = h("div", "figure", h("span", "", name), this.value);
    this.element.title = explanation;
  }

  say(text: string | undefined): void {
    this.element.hidden = text === undefined;
    if (text !== undefined) say(this.value, text);
  }
}

/** The message error rate. */
function share({ judged, missed }: Tally): number {
  return judged > 0 ? missed / judged : 0;
}

/** The age that at least this share of the messages does not exceed. */
function bound(ages: readonly number[], all: number, share: number): string {
  let sum = 0;
  const at = ages.findIndex((count) => (sum += count) >= all * share);
  return at >= 0 && at < AGES.length ? ms(AGES[at] ?? 0) : `more than ${ms(AGES.at(-1) ?? 0)}`;
}

function label(i: number): string {
  return i < AGES.length ? `up to ${ms(AGES[i] ?? 0)}` : "older";
}
