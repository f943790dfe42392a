/**
 * The list of participants, the facts about the selected one's transport, and its emulated network.
 */

import { button, dot, h, say } from "../shared/dom.js";
import type { Model } from "./model.js";
import type { Participant, Transport } from "./report.js";
import { ms, percent, rate, transportReason } from "./words.js";

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
    this.facts.hidden = this.reason.hidden = true;
    this.emulation.show(undefined, undefined);
  }

  show(model: Model, selected: number | undefined): void {
    const people = model.report?.participants ?? [];
    const ids = model.report ? [undefined, ...people.map(({ id }) => id)] : [];
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
    this.emulation.show(selected, transport);
    if (!transport) return;
    this.showFacts(transport);
    say(this.reason, transportReason(transport));
  }

  private showFacts(transport: Transport): void {
    const facts = rows(transport);
    // Values change often and names rarely, so elements are replaced only when a name changes. A
    // tooltip that the user reads stays.
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

/** The known facts about a transport, each with an explanation. */
function rows(transport: Transport): [name: string, value: string, meaning: string][] {
  const unseen = transport.datagrams ? "not yet known" : "not visible on a stream";
  const lost = (share: number | null): string => (share === null ? unseen : percent(share));
  const per =
    "Packet error rate: the share of packets that the path lost. A stream sends lost packets again by itself, without a report.";
  const rows: [string, string | undefined, string][] = [
    ["Transport", transport.kind, "The transport that carries packets. The reason for it is shown below."],
    [
      "Awareness",
      transport.datagrams ? "in datagrams" : "over the stream",
      "In datagrams a lost packet delays nothing.",
    ],
    [
      "Round trip",
      transport.round_trip === null ? undefined : ms(transport.round_trip),
      "The smoothed round-trip time.",
    ],
    [
      "Clock error",
      transport.clock_error === null ? undefined : `± ${ms(transport.clock_error)}`,
      "The largest error of the ages of messages.",
    ],
    ["Loss to participant (PER)", lost(transport.lost_to), per],
    ["Loss from participant (PER)", lost(transport.lost_from), per],
    [
      "Link rate",
      transport.rate === null ? undefined : `about ${rate(transport.rate)}`,
      "Estimated from pings that are sent with messages.",
    ],
    [
      "Datagram limit",
      limit(transport),
      "The rate limit of datagrams to the participant, with headers. Lowered when the path's queue grows.",
    ],
    ["Coding", transport.coded ? "templates" : "none", "How messages are compressed."],
    [
      "Group, stream",
      groupName(transport.stream_group),
      "The fan-out group: receivers who get the same payload, coded once.",
    ],
    [
      "Group, datagrams",
      transport.datagrams ? groupName(transport.datagram_group) : undefined,
      "The fan-out group: receivers who get the same payload, coded once.",
    ],
    [
      "Epoch",
      transport.epoch === null ? undefined : String(transport.epoch),
      "The version of the model by which the next datagram is coded.",
    ],
  ];
  return rows.filter((row): row is [string, string, string] => row[1] !== undefined);
}

function groupName(which: number | null): string {
  return which === null ? "none" : `no. ${which}`;
}

function limit({ datagrams, rate_limit }: Transport): string | undefined {
  if (!datagrams) return undefined;
  return rate_limit === null ? "no limit seen" : rate(rate_limit);
}

/** Two sliders that emulate loss and delay for one participant. */
class Emulation {
  readonly element = h("fieldset", "emulation");
  // The most that the server emulates.
  private readonly loss = slider("loss", 50);
  private readonly delay = slider("delay", 1000);
  private participant: number | undefined;
  /** The settings that the server has told last. */
  private told = "";

  constructor(emulate: PeopleEvents["emulate"]) {
    const off = button("small", "No emulation", () => {
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
      "Emulates a bad network for this participant's connection while it runs. Other participants are not affected.",
    );
    this.element.append(h("legend", "", "Emulate a network"), note, this.loss.element, this.delay.element, off);
    this.label();
  }

  show(participant: number | undefined, transport: Transport | undefined): void {
    this.element.hidden = !transport?.emulable;
    if (participant === undefined) return;
    const [loss, delay] = transport?.emulation ?? [0, 0];
    // Another inspector may have changed loss and delay. While they stay, a slider that is being
    // moved is left alone.
    const told = JSON.stringify([participant, loss, delay]);
    if (told === this.told) return;
    this.told = told;
    this.participant = participant;
    this.loss.input.value = String(loss * 100);
    this.delay.input.value = String(delay);
    this.label();
  }

  private label(): void {
    say(this.loss.value, `${this.loss.input.value} % lost in each direction`);
    say(this.delay.value, `${this.delay.input.value} ms longer in each direction`);
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
