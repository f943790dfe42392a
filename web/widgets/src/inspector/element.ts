/**
 * `<gw-inspector>`: shows the contents of a room's packets. Attributes: `server`, `room`, `token`;
 * `administration` is the address of the administration's page, if there is to be a link to it.
 */

import { accessOf, pageAddress, Refused, type Access } from "../shared/access.js";
import { button, h, say } from "../shared/dom.js";
import { missingNote, showMissing } from "../shared/missing.js";
import { TOKEN_WANTED, tokenForm } from "../shared/token.js";
import { Channels } from "./channels.js";
import { emulate, follow, record, rooms, templates } from "./feed.js";
import { Model, PURPOSES, type Filter, type PacketEntry } from "./model.js";
import { PacketView } from "./packet.js";
import { People } from "./people.js";
import type { Report, Rooms } from "./report.js";
import { STYLES } from "./styles.js";
import { TemplatesView } from "./templates.js";
import { Timeline } from "./timeline.js";
import { bytes, GLOSSARY, number, PURPOSE_WORDS, wireSummary } from "./words.js";

/**
 * Milliseconds between requests for the list of rooms and for the templates, which change rarely.
 */
const POLL_MS = 2000;

const DIRECTIONS = [
  ["out", "To participants"],
  ["in", "From participants"],
  ["both", "Both"],
] as const;

/** `<gw-inspector>`: shows the contents of a room's packets. */
export class Inspector extends HTMLElement {
  static readonly observedAttributes = ["server", "room", "token"];

  readonly model = new Model();
  private readonly root = this.attachShadow({ mode: "open" });
  private readonly roomChoice = h("select", "room");
  private readonly summary = h("p", "summary");
  private readonly status = h("p", "status");
  private readonly pause = button("quiet", "Pause", () => this.setPaused(!this.isPaused));
  private readonly recordButton = button("quiet", "Record", () => void this.toggleRecording());
  private readonly recordStatus = h("span", "record-status");
  private readonly glossary = glossary();
  private readonly administration = h("a", "quiet", "Administration");
  private readonly token = tokenForm("Inspect", (token) => this.setAttribute("token", token));
  private readonly people = new People({
    select: (participant) => this.select(participant),
    emulate: (participant, loss, delay) => void this.ask(emulate(this.access, this.room, participant, loss, delay)),
  });
  private readonly timeline = new Timeline((seen) => this.open(seen));
  private readonly packet = new PacketView();
  private readonly channels = new Channels();
  private readonly templates = new TemplatesView();
  private readonly directions = DIRECTIONS.map(([direction, name]) => {
    const choice = button("segment-button", name, () => this.setDirection(direction));
    choice.dataset.direction = direction;
    return choice;
  });
  private filter: Filter = { participant: undefined, direction: "out" };
  private found: Rooms | undefined;
  private readonly missing = missingNote();
  private isPaused = false;
  private following: AbortController | undefined;
  private polling: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    const style = document.createElement("style");
    style.textContent = STYLES;
    this.roomChoice.ariaLabel = "Room";
    this.roomChoice.dataset.testid = "room";
    this.roomChoice.addEventListener("change", () => this.setAttribute("room", this.roomChoice.value));
    this.recordButton.dataset.testid = "record";
    this.pause.dataset.testid = "pause";
    this.summary.dataset.testid = "summary";
    this.status.setAttribute("role", "status");
    const help = button("quiet", "What do I see?", () => this.glossary.showModal());
    help.dataset.testid = "help";
    const direction = h("div", "directions", ...this.directions);
    direction.setAttribute("role", "group");
    direction.ariaLabel = "Which packets";
    this.administration.hidden = true;
    const tools = h("div", "tools", this.recordStatus, this.recordButton, this.pause, help, this.administration);
    const packets = h(
      "section",
      "packets",
      h("div", "packets-head", h("h2", "", "Packets"), direction, legend()),
      this.timeline.element,
    );
    const centre = h("div", "centre", packets, this.packet.element);
    this.root.append(
      style,
      h("header", "bar-top", h("h1", "", "Inspector"), this.roomChoice, this.summary, tools),
      this.status,
      this.missing,
      this.token,
      h("main", "panes", this.people.element, centre, this.channels.element, this.templates.element),
      this.glossary,
    );
    this.setDirection("out");
  }

  /** The server's address, with a slash at the end. */
  get server(): string {
    return this.access.server;
  }

  get room(): string {
    return this.getAttribute("room") ?? "";
  }

  connectedCallback(): void {
    this.polling = setInterval(() => void this.poll(), POLL_MS);
    void this.poll();
    this.linkAdministration();
    this.start();
  }

  disconnectedCallback(): void {
    clearInterval(this.polling);
    this.following?.abort();
  }

  attributeChangedCallback(_: string, before: string | null, now: string | null): void {
    if (before === now || !this.isConnected) return;
    this.dispatchEvent(new CustomEvent("room", { detail: this.room }));
    this.start();
    this.linkAdministration();
    void this.poll();
  }

  private linkAdministration(): void {
    const page = this.getAttribute("administration");
    this.administration.hidden = page === null;
    this.administration.href = pageAddress(page ?? "", this.access);
  }

  private get access(): Access {
    return accessOf(this);
  }

  private start(): void {
    this.following?.abort();
    this.model.clear();
    this.select(undefined);
    this.setPaused(false);
    this.open(undefined);
    if (this.room === "") return this.explain("Choose a room.");
    this.following = new AbortController();
    void follow(this.access, this.room, this.following.signal, {
      report: (report) => this.take(report),
      trouble: (error) => this.trouble(error),
    });
  }

  private take(report: Report): void {
    this.explain("");
    this.model.take(report);
    const { participant } = this.filter;
    if (participant !== undefined && !this.model.participant(participant))
      this.filter = { ...this.filter, participant: undefined };
    this.show();
  }

  private show(): void {
    const { model, filter } = this;
    if (!this.isPaused) this.timeline.show(model.newest(filter, this.timeline.count), model);
    this.people.show(model, filter.participant);
    this.channels.show(model.channels(filter), filter);
    const whom = filter.participant === undefined ? "" : ` · ${model.nameOf(filter.participant)}`;
    const tick = model.report && ` · tick ${number(model.report.tick)} ms`;
    say(this.summary, model.report ? `${wireSummary(model.wire(filter))}${whom}${tick}` : "");
    this.showRecording();
  }

  private select(participant: number | undefined): void {
    this.filter = { ...this.filter, participant };
    this.templates.show(undefined);
    this.setPaused(false);
    this.show();
    void this.loadTemplates();
  }

  private setDirection(direction: Filter["direction"]): void {
    this.filter = { ...this.filter, direction };
    for (const choice of this.directions) choice.ariaPressed = String(choice.dataset.direction === direction);
    this.setPaused(false);
    this.show();
  }

  /** Shows one packet. The bars are paused meanwhile. */
  private open(seen: PacketEntry | undefined): void {
    this.timeline.select(seen);
    this.packet.show(seen, this.model);
    if (seen) this.setPaused(true);
  }

  private setPaused(paused: boolean): void {
    this.isPaused = paused;
    say(this.pause, paused ? "Resume" : "Pause");
    this.pause.ariaPressed = String(paused);
    this.classList.toggle("paused", paused);
    if (!paused) this.show();
  }

  /** Requests the rooms and the templates. */
  private async poll(): Promise<void> {
    try {
      this.found = await rooms(this.access);
      this.showRooms(this.found);
      showMissing(this.missing, this.found.unanswered);
      await this.loadTemplates();
    } catch (error) {
      this.trouble(error);
    }
  }

  private async loadTemplates(): Promise<void> {
    // If no participant is selected, the first one represents all.
    const whose = (): number | undefined =>
      this.filter.participant ?? this.model.report?.participants.find(({ transport }) => transport !== null)?.id;
    const participant = whose();
    if (participant === undefined || this.room === "") return;
    const found = await this.ask(templates(this.access, this.room, participant));
    if (!found || participant !== whose()) return;
    this.templates.show(found, {
      name: this.model.nameOf(participant),
      isExample: this.filter.participant === undefined,
    });
  }

  private showRooms({ rooms }: Rooms): void {
    const names = rooms.map(({ name }) => name);
    if (this.room !== "" && !names.includes(this.room)) names.unshift(this.room);
    const key = JSON.stringify(names);
    if (this.roomChoice.dataset.names !== key) {
      this.roomChoice.dataset.names = key;
      this.roomChoice.replaceChildren(
        ...names.map((name) => {
          const option = h("option", "", name);
          option.value = name;
          return option;
        }),
      );
    }
    this.roomChoice.disabled = names.length === 0;
    if (this.room !== "") this.roomChoice.value = this.room;
    else if (names[0] !== undefined) this.setAttribute("room", names[0]);
    else
      this.explain(
        "This server has no rooms yet. Open a page in another window, or play a recording: groupwire replay --trace FILE",
      );
  }

  private showRecording(): void {
    const recording = this.model.report?.recording;
    const isOn = recording !== null && recording !== undefined && !recording.is_over;
    this.recordButton.hidden = !(this.found?.records ?? false);
    say(this.recordButton, isOn ? "Stop recording" : "Record");
    this.recordButton.classList.toggle("on", isOn);
    const text = recording
      ? (recording.error ?? `${recording.file}: ${number(recording.messages)} messages, ${bytes(recording.bytes)}`)
      : "";
    say(this.recordStatus, text);
  }

  private async toggleRecording(): Promise<void> {
    const recording = this.model.report?.recording;
    await this.ask(record(this.access, this.room, recording ? recording.is_over : true));
  }

  /** Awaits a request. If it fails, shows the error and returns undefined. */
  private async ask<T>(asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      this.trouble(error);
      return undefined;
    }
  }

  private trouble(error: unknown): void {
    this.token.hidden = !(error instanceof Refused && error.status === 401);
    this.classList.toggle("locked", !this.token.hidden);
    if (!this.token.hidden) return this.explain(TOKEN_WANTED);
    if (error instanceof Refused && error.status === 404 && this.room !== "") {
      return this.explain(`The room “${this.room}” has no participants yet. This page waits for the first one.`);
    }
    this.explain(
      error instanceof Refused ? error.message : "The server cannot be reached, or closed the room. Trying again.",
    );
  }

  private explain(text: string): void {
    say(this.status, text);
    this.status.hidden = text === "";
    if (text !== "") return;
    this.token.hidden = true;
    this.classList.remove("locked");
  }
}

function legend(): HTMLElement {
  const list = h("ul", "legend");
  list.ariaLabel = "Colours";
  for (const purpose of PURPOSES) list.append(h("li", "", h("i", `swatch ${purpose}`), PURPOSE_WORDS[purpose]));
  return list;
}

function glossary(): HTMLDialogElement {
  const dialog = h("dialog", "glossary");
  dialog.ariaLabel = "What the inspector shows";
  const list = h("dl");
  for (const [word, meaning] of GLOSSARY) list.append(h("dt", "", word), h("dd", "", meaning));
  const lead =
    "Each bar is a packet. Its height shows its bytes, its colours their purposes. Press a bar to see each message in the packet with its bytes before and after. Select a participant to see its transport and its templates, and to emulate a worse network.";
  const close = button("quiet", "Close", () => dialog.close());
  dialog.append(h("div", "glossary-head", h("h2", "", "What do I see?"), close), h("p", "", lead), list);
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  return dialog;
}
