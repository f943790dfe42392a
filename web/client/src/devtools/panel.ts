/** The panel: which room, which tab, how high. */

import { button, h, say, set } from "./dom.js";
import type { Arrangement } from "./memory.js";
import type { Network } from "./network.js";
import { stateOf } from "./state.js";
import { ChannelsView } from "./views/channels.js";
import { ConnectionView } from "./views/connection.js";
import { DataView } from "./views/data.js";
import { NetworkView } from "./views/network.js";
import { PacketsView } from "./views/packets.js";
import { PendingView } from "./views/pending.js";
import { PeopleView } from "./views/people.js";
import { ProblemsView } from "./views/problems.js";
import type { View } from "./views/view.js";
import type { Watch } from "./watch.js";

export interface PanelEvents {
  close(): void;
  /** The user has changed how the devtools are arranged. */
  arranged(change: Partial<Arrangement>): void;
  /** Something that the user has chosen is to be shown. */
  changed(): void;
}

/** The smallest height, and the part of the window that stays free above the panel. */
const LEAST_HEIGHT = 160;
const FREE_ABOVE = 60;

/** How far an arrow key moves the edge. */
const KEY_STEP = 24;

interface Tab {
  readonly view: View;
  readonly button: HTMLButtonElement;
  readonly mark: HTMLElement;
  readonly page: HTMLElement;
}

export class Panel {
  readonly #network: Network;
  readonly #events: PanelEvents;
  readonly #edge = h("div", "edge");
  readonly #state = h("span", "state");
  readonly #rooms = h("select", "rooms");
  readonly #name = h("h1", "name");
  readonly #tabList = h("div", "tabs");
  readonly #pages = h("div", "pages");
  readonly element: HTMLElement;
  #watch: Watch | undefined;
  #watches: readonly Watch[] = [];
  #tabs: readonly Tab[] = [];
  #selected = "";
  #height: number;

  constructor(network: Network, { height, tab }: Arrangement, events: PanelEvents) {
    this.#network = network;
    this.#events = events;
    this.#height = height;
    this.#selected = tab;
    set(this.#edge, "role", "separator");
    set(this.#edge, "aria-orientation", "horizontal");
    set(this.#edge, "aria-label", "Height of the devtools");
    this.#edge.tabIndex = 0;
    this.#edge.addEventListener("pointerdown", (event) => this.#drag(event));
    this.#edge.addEventListener("keydown", (event) => {
      const step = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.#resize(this.#height + step);
    });
    set(this.#rooms, "aria-label", "Room");
    this.#rooms.addEventListener("input", () => this.#choose(this.#watches[Number(this.#rooms.value)]));
    set(this.#tabList, "role", "tablist");
    set(this.#tabList, "aria-label", "Devtools");
    this.#tabList.addEventListener("keydown", (event) => this.#moveTab(event));
    const side = button("tool side", "", () => {
      const isLeft = (this.element.getRootNode() as ShadowRoot).host.getAttribute("side") === "left";
      this.#events.arranged({ side: isLeft ? "right" : "left" });
    });
    side.append("⇄");
    set(side, "aria-label", "Move the badge to the other corner");
    side.title = "Move the badge to the other corner";
    const close = button("tool close", "✕", () => events.close());
    set(close, "aria-label", "Close the devtools");
    const room = h("div", "room", h("span", "dot"), this.#state, this.#name, this.#rooms);
    const head = h("header", "", room, this.#tabList, h("div", "buttons", side, close));
    this.element = h("div", "panel", this.#edge, head, this.#pages);
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.stopPropagation();
      events.close();
    });
  }

  focus(): void {
    this.#tabs.find(({ view }) => view.title === this.#selected)?.button.focus();
  }

  show(watches: readonly Watch[], { height }: Arrangement): void {
    if (this.#watches !== watches) this.#offer(watches);
    const { look, text } = stateOf(this.#watch ? [this.#watch] : []);
    this.element.className = `panel ${look}`;
    say(this.#state, text);
    this.#setHeight(height);
    for (const { view, button, mark, page } of this.#tabs) {
      const isSelected = view.title === this.#selected;
      set(button, "aria-selected", `${isSelected}`);
      button.tabIndex = isSelected ? 0 : -1;
      page.hidden = !isSelected;
      if (isSelected) view.show();
      say(mark, view.mark ?? "");
      mark.hidden = mark.textContent === "";
    }
  }

  /** The rooms to choose from have changed. */
  #offer(watches: readonly Watch[]): void {
    this.#watches = watches;
    const isKnown = this.#watch && watches.includes(this.#watch);
    if (!isKnown) this.#choose(watches[0]);
    this.#rooms.replaceChildren(
      ...watches.map(({ room }, at) => {
        const option = h("option", "", room.name);
        option.value = `${at}`;
        return option;
      }),
    );
    this.#rooms.value = `${this.#watch ? watches.indexOf(this.#watch) : ""}`;
    this.#rooms.hidden = watches.length < 2;
    say(this.#name, watches.length < 2 ? (this.#watch?.room.name ?? "No room") : "Groupwire");
  }

  #choose(watch: Watch | undefined): void {
    this.#watch = watch;
    const views: View[] = watch
      ? [
          new ConnectionView(watch),
          new ChannelsView(watch),
          new PacketsView(watch),
          new PeopleView(watch),
          new DataView(watch),
          new PendingView(watch),
          new ProblemsView(watch),
          new NetworkView(this.#network),
        ]
      : [];
    this.#tabs = views.map((view) => this.#tab(view));
    if (!views.some(({ title }) => title === this.#selected)) this.#selected = views[0]?.title ?? "";
    this.#tabList.replaceChildren(...this.#tabs.map(({ button }) => button));
    this.#pages.replaceChildren(...this.#tabs.map(({ page }) => page));
    this.#events.changed();
  }

  #tab(view: View): Tab {
    const id = view.title.toLowerCase();
    const mark = h("span", "mark");
    const tab = button("tab", view.title, () => this.#select(view.title));
    tab.append(mark);
    tab.id = `tab-${id}`;
    set(tab, "role", "tab");
    set(tab, "aria-controls", `page-${id}`);
    const page = h("div", "page", view.element);
    page.id = `page-${id}`;
    page.tabIndex = 0;
    set(page, "role", "tabpanel");
    set(page, "aria-labelledby", tab.id);
    return { view, button: tab, mark, page };
  }

  #select(title: string): void {
    this.#selected = title;
    // On a narrow screen the row of tabs scrolls; test environments do not.
    const tab = this.#tabs.find(({ view }) => view.title === title);
    tab?.button.scrollIntoView?.({ block: "nearest", inline: "center" });
    this.#events.arranged({ tab: title });
  }

  #moveTab(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = this.#tabs.findIndex(({ view }) => view.title === this.#selected);
    const next = this.#tabs[(at + step + this.#tabs.length) % this.#tabs.length];
    if (!next) return;
    this.#select(next.view.title);
    next.button.focus();
  }

  #drag(event: PointerEvent): void {
    event.preventDefault();
    const { clientY } = event;
    const height = this.#height;
    this.#edge.setPointerCapture?.(event.pointerId);
    const drag = new AbortController();
    const { signal } = drag;
    const move = (event: PointerEvent): void => this.#resize(height + clientY - event.clientY);
    this.#edge.addEventListener("pointermove", move, { signal });
    for (const name of ["pointerup", "pointercancel"]) {
      this.#edge.addEventListener(name, () => drag.abort(), { signal });
    }
  }

  #resize(height: number): void {
    this.#setHeight(height);
    this.#events.arranged({ height: this.#height });
  }

  #setHeight(height: number): void {
    const most = Math.max(LEAST_HEIGHT, globalThis.innerHeight - FREE_ABOVE);
    this.#height = Math.round(Math.min(most, Math.max(LEAST_HEIGHT, height)));
    this.element.style.height = `${this.#height}px`;
    set(this.#edge, "aria-valuemin", `${LEAST_HEIGHT}`);
    set(this.#edge, "aria-valuemax", `${most}`);
    set(this.#edge, "aria-valuenow", `${this.#height}`);
  }
}
