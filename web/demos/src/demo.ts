/** `<gw-demo>`: the windows of several participants, the network between, and what it carries. */

import { play, simulate, type Room, type Simulation } from "groupwire/testing/page";
import { Contracts } from "./contracts.js";
import { h, newId, prefersStillness } from "./dom.js";
import type { Action, DemoWindow, Kind, Running } from "./kind.js";
import { KINDS } from "./kinds.js";
import { networkControls } from "./network.js";
import { personAt, type Person } from "./people.js";
import { STYLE } from "./style.js";
import { followTheme } from "./theme.js";
import { Traffic } from "./traffic.js";
import { makeWindow } from "./window.js";

/** How often numbers are shown anew, in milliseconds: seldom enough to be read. */
const REFRESH_MS = 300;

/** Shows the demonstration that the attribute `kind` names. Returns how to end it. */
export async function showDemo(host: HTMLElement): Promise<() => void> {
  const name = host.getAttribute("kind") ?? "pointers";
  const load = KINDS[name];
  if (!load) throw new Error(`there is no demonstration "${name}": use ${Object.keys(KINDS).join(", ")}`);
  const demo = new Demo(host, await load());
  return () => demo.end();
}

class Demo {
  readonly #kind: Kind;
  readonly #windows = h("div", { class: "windows" });
  readonly #playing = h("button", { type: "button", class: "play", click: () => this.#toggle() });
  readonly #network = networkControls((conditions) => {
    for (const room of this.#rooms) this.#net?.change(room, conditions);
  });
  readonly #contracts: Contracts;
  readonly #traffic: Traffic;
  readonly #observer: IntersectionObserver;
  readonly #stopTheme: () => void;
  #count: number;
  #net: Simulation | undefined;
  #rooms: Room<Person>[] = [];
  #running: Running[] = [];
  #stopPlaying: (() => void) | undefined;
  #frame = 0;
  #refreshed = 0;
  #isVisible = false;
  /** Whether the people move by themselves. At first they do not if little movement is wanted. */
  #isActing: boolean;

  constructor(host: HTMLElement, kind: Kind) {
    this.#kind = kind;
    this.#count = kind.counts[0] ?? 2;
    this.#isActing = !prefersStillness();
    this.#contracts = new Contracts(kind.channels);
    this.#traffic = new Traffic(kind.message);
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    shadow.replaceChildren(h("style", {}, STYLE), this.#layOut());
    this.#stopTheme = followTheme(host);
    this.#begin();
    this.#observer = new IntersectionObserver((entries) => this.#see(entries.at(-1)?.isIntersecting ?? false));
    this.#observer.observe(host);
  }

  end(): void {
    this.#observer.disconnect();
    this.#stopTheme();
    this.#finish();
  }

  #layOut(): HTMLElement {
    const { title, hint, counts, hasActors, actions = [] } = this.#kind;
    const heading = newId("title");
    const buttons = actions.map((action) => this.#button(action));
    return h(
      "section",
      { class: "demo", "aria-labelledby": heading },
      h(
        "header",
        {},
        h("div", {}, h("p", { id: heading, class: "title" }, title), h("p", { class: "hint" }, hint)),
        h(
          "div",
          { class: "tools" },
          ...(counts.length > 1 ? [this.#chooseCount()] : []),
          ...(hasActors ? [this.#playing] : []),
          ...buttons,
        ),
      ),
      this.#windows,
      h("div", { class: "panel" }, this.#network.element, this.#contracts.element, this.#traffic.element),
      h("p", { class: "foot" }, "Real clients and a real room, all in this page: no server is used."),
    );
  }

  #button({ label, run, undoLabel, undo }: Action): HTMLElement {
    const button = h("button", { type: "button" }, label);
    let isDone = false;
    button.addEventListener("click", () => {
      if (!this.#net) return;
      (isDone ? undo : run)(this.#net);
      isDone = !isDone;
      button.textContent = isDone ? undoLabel : label;
    });
    return button;
  }

  #chooseCount(): HTMLElement {
    const group = newId("windows");
    const choices = this.#kind.counts.map((count) => {
      const choose = (): void => this.#restart(count);
      const input = h("input", { type: "radio", name: group, checked: count === this.#count, change: choose });
      return h("label", {}, input, h("span", {}, String(count)));
    });
    return h("fieldset", { class: "choice" }, h("legend", {}, "Windows"), ...choices);
  }

  #restart(count: number): void {
    this.#count = count;
    this.#finish();
    this.#begin();
    this.#see(this.#isVisible);
  }

  #begin(): void {
    const { settings, network } = this.#kind;
    const net = simulate({ ...settings, ...network, seed: 1, onPacket: (packet) => this.#traffic.add(packet) });
    this.#net = net;
    this.#windows.dataset.count = String(this.#count);
    this.#network.start(network ?? {});
    const made = Array.from({ length: this.#count }, (_, index) => this.#open(net, index));
    this.#windows.replaceChildren(...made.map(({ element }) => element));
    this.#rooms = made.map(({ room }) => room);
    this.#running = made.map(({ running }) => running);
    this.#contracts.watch(this.#rooms);
    this.#traffic.watch(this.#rooms);
    this.#show();
  }

  #open(net: Simulation, index: number): { element: HTMLElement; room: Room<Person>; running: Running } {
    const person = personAt(index);
    const room = net.join({ name: person.name, presence: person });
    const { element, body, say } = makeWindow(person, room);
    const isActing = (): boolean => this.#isActing;
    const window: DemoWindow = { index, person, room, body, net, say, count: this.#count, isActing };
    return { element, room, running: this.#kind.open(window) };
  }

  #finish(): void {
    this.#pause();
    for (const running of this.#running) running.stop?.();
    this.#net?.end();
    this.#net = undefined;
  }

  /** Time passes only while the reader can see the demonstration. */
  #see(isVisible: boolean): void {
    this.#isVisible = isVisible;
    if (!isVisible || !this.#net) return this.#pause();
    this.#stopPlaying ??= play(this.#net);
    cancelAnimationFrame(this.#frame);
    this.#step();
  }

  #pause(): void {
    cancelAnimationFrame(this.#frame);
    this.#stopPlaying?.();
    this.#stopPlaying = undefined;
  }

  #step(): void {
    this.#frame = requestAnimationFrame((now) => {
      for (const running of this.#running) running.frame?.(this.#net?.now ?? 0);
      if (now - this.#refreshed > REFRESH_MS) {
        this.#refreshed = now;
        this.#contracts.show();
        this.#traffic.show();
      }
      this.#step();
    });
  }

  #toggle(): void {
    this.#isActing = !this.#isActing;
    this.#show();
  }

  #show(): void {
    this.#playing.textContent = this.#isActing ? "Stop the people" : "Let the people move";
  }
}
