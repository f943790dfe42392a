/** The participants, and what is known of the selected one: its transport, an emulated network. */

import { button, dot, h, say } from "./dom";
import type { Model } from "./model";
import type { Participant, Transport } from "./report";
import { ms, percent, rate, why } from "./words";

export interface PeopleEvents {
  readonly select: (participant: number | undefined) => void;
  readonly emulate: (participant: number, loss: number, delay: number) => void;
}

export class People {
  readonly element = h("section", "people");
  private readonly list = h("div", "choices");
  private readonly facts = h("dl", "facts");
  private readonly reason = h("p", "reason");
  private readonly emulation: Emulation;
  private readonly buttons = new Map<number | undefined, HTMLButtonElement>();

  constructor(private readonly events: PeopleEvents) {
    this.emulation = new Emulation(events.emulate);
    this.list.dataset.testid = "participants";
    this.facts.dataset.testid = "facts";
    this.element.append(h("h2", "", "Participants"), this.list, this.facts, this.reason, this.emulation.element);
  }

  show(model: Model, selected: number | undefined, emulates: boolean): void {
    const people = model.report?.participants ?? [];
    const ids = [undefined, ...people.map(({ id }) => id)];
    for (const [id, choice] of this.buttons) {
      if (ids.includes(id)) continue;
      choice.remove();
      this.buttons.delete(id);
    }
    for (const id of ids) {
      let choice = this.buttons.get(id);
      if (!choice) {
        choice = button("choice", "", () => this.events.select(id));
        choice.append(...(id === undefined ? [] : [dot(id)]), h("span", "name"), h("span", "detail"));
        this.buttons.set(id, choice);
        this.list.append(choice);
      }
      const person = people.find((one) => one.id === id);
      const [name, detail] = choice.querySelectorAll("span.name, span.detail");
      if (name) say(name, id === undefined ? "Everybody" : model.nameOf(id));
      if (detail) say(detail, id === undefined ? String(people.length) : state(person));
      choice.ariaPressed = String(id === selected);
    }
    const transport = people.find(({ id }) => id === selected)?.transport ?? undefined;
    this.facts.hidden = this.reason.hidden = transport === undefined;
    this.emulation.show(selected, emulates ? transport : undefined);
    if (!transport) return;
    this.showFacts(transport);
    say(this.reason, why(transport));
  }

  private showFacts(transport: Transport): void {
    const facts = rows(transport);
    // Values change, and what they are called hardly ever: who points at one goes on reading.
    const names = facts.map(([name]) => name).join();
    if (this.facts.dataset.names !== names) {
      this.facts.dataset.names = names;
      const pair = ([name, , meaning]: (typeof facts)[number]): HTMLElement[] =>
        [h("dt", "", name), h("dd")].map((element) => explained(element, meaning));
      this.facts.replaceChildren(...facts.flatMap(pair));
    }
    this.facts.querySelectorAll("dd").forEach((value, i) => say(value, facts[i]?.[1] ?? ""));
  }
}

function explained(element: HTMLElement, meaning: string): HTMLElement {
  element.title = meaning;
  return element;
}

function state(person: Participant | undefined): string {
  if (!person?.transport) return person?.state ?? "";
  const { kind, round_trip, emulation } = person.transport;
  const trip = round_trip === null ? "" : ` · ${ms(round_trip)}`;
  return `${kind}${trip}${emulation && (emulation[0] > 0 || emulation[1] > 0) ? " · emulated" : ""}`;
}

/** What is known, and what each of it means. */
function rows(transport: Transport): [name: string, value: string, meaning: string][] {
  const unseen = transport.datagrams ? "not yet known" : "unseen on a stream";
  const lost = (share: number | null): string => (share === null ? unseen : percent(share));
  const per =
    "Packet error rate: the share of packets that the path lost. A stream sends them again by itself and tells nobody.";
  const rows: [string, string | undefined, string][] = [
    ["Transport", transport.kind, "What carries packets. Why it was chosen stands below."],
    [
      "Awareness goes",
      transport.datagrams ? "in datagrams" : "over the stream",
      "In datagrams a lost packet holds nothing up.",
    ],
    ["Round trip", transport.round_trip === null ? undefined : ms(transport.round_trip), "There and back, smoothed."],
    [
      "Clock error",
      transport.clock_error === null ? undefined : `± ${ms(transport.clock_error)}`,
      "How wrong ages of messages may be.",
    ],
    ["Lost to it (PER)", lost(transport.lost_to), per],
    ["Lost from it (PER)", lost(transport.lost_from), per],
    [
      "Link carries",
      transport.rate === null ? undefined : `about ${rate(transport.rate)}`,
      "Estimated from pings beside messages.",
    ],
    [
      "Datagram limit",
      limit(transport),
      "The most that goes there as datagrams, headers included. Lowered when the path's queue grows.",
    ],
    ["Coding", transport.coded ? "templates" : "none", "How messages become small."],
    ["Class, stream", of(transport.stream_class), "Receivers who are sent the very same octets, coded once."],
    [
      "Class, datagrams",
      transport.datagrams ? of(transport.datagram_class) : undefined,
      "Receivers who are sent the very same octets, coded once.",
    ],
    [
      "Epoch",
      transport.epoch === null ? undefined : String(transport.epoch),
      "The version of the model that its next datagram is coded under.",
    ],
  ];
  return rows.filter((row): row is [string, string, string] => row[1] !== undefined);
}

function of(which: number | null): string {
  return which === null ? "none, alone" : `no. ${which}`;
}

function limit({ datagrams, rate_limit }: Transport): string | undefined {
  if (!datagrams) return undefined;
  return rate_limit === null ? "no limit seen" : rate(rate_limit);
}

/** Two sliders: what is lost and how long it takes, for one participant. */
class Emulation {
  readonly element = h("fieldset", "emulation");
  private readonly loss = slider("loss", 30);
  private readonly delay = slider("delay", 500);
  private participant: number | undefined;

  constructor(emulate: PeopleEvents["emulate"]) {
    const off = button("small", "As it is", () => {
      this.loss.input.value = this.delay.input.value = "0";
      apply();
    });
    const apply = (): void => {
      this.label();
      if (this.participant === undefined) return;
      emulate(this.participant, this.loss.input.valueAsNumber / 100, this.delay.input.valueAsNumber);
    };
    for (const { input } of [this.loss, this.delay]) {
      input.addEventListener("input", () => this.label());
      input.addEventListener("change", apply);
    }
    const note = h(
      "p",
      "lead",
      "Leads this participant's connection over a bad network, as it runs. Nobody else notices.",
    );
    this.element.append(h("legend", "", "Emulate a network"), note, this.loss.element, this.delay.element, off);
    this.label();
  }

  show(participant: number | undefined, transport: Transport | undefined): void {
    this.element.hidden = !transport?.emulable;
    if (participant === this.participant || participant === undefined) return;
    this.participant = participant;
    const [loss, delay] = transport?.emulation ?? [0, 0];
    this.loss.input.value = String(loss * 100);
    this.delay.input.value = String(delay);
    this.label();
  }

  private label(): void {
    say(this.loss.value, `${this.loss.input.value} % lost each way`);
    say(this.delay.value, `${this.delay.input.value} ms longer each way`);
  }
}

function slider(name: string, max: number): { element: HTMLElement; input: HTMLInputElement; value: HTMLElement } {
  const input = h("input");
  input.type = "range";
  input.max = String(max);
  input.value = "0";
  input.dataset.testid = `emulate-${name}`;
  const value = h("span", "");
  return { element: h("label", "slider", value, input), input, value };
}
