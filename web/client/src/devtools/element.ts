/** `<gw-devtools>`: a badge in the corner, and the panel that it opens. */

import { Base, button, h, say, set } from "./dom.js";
import { recall, remember, type Arrangement } from "./memory.js";
import { Panel } from "./panel.js";
import { REGISTRY } from "./registry.js";
import { stateOf } from "./state.js";
import { STYLES } from "./styles.js";
import type { Watch } from "./watch.js";

/**
 * The interval in milliseconds at which figures are shown anew that change without an event, such
 * as the round trip.
 */
const TICK_MS = 500;

/**
 * Packets and other events are shown at most this often, in milliseconds, however many come: people
 * cannot read faster, and the page has other things to do.
 */
const PAUSE_MS = 100;

/** The element `<gw-devtools>`. */
export interface DevtoolsElement extends HTMLElement {
  /** True while the panel is open. */
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

export class Devtools extends Base implements DevtoolsElement {
  readonly #root: ShadowRoot;
  readonly #badge: HTMLButtonElement;
  readonly #badgeText = h("span", "state");
  readonly #panel: Panel;
  #arrangement: Arrangement = recall();
  #watches: readonly Watch[] = [];
  #stops: (() => void)[] = [];
  #frame: number | undefined;
  #tick: ReturnType<typeof setInterval> | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.#root = this.attachShadow({ mode: "open" });
    adopt(this.#root);
    this.#badge = button("badge", "", () => this.open());
    this.#badge.append(h("span", "dot"), this.#badgeText);
    set(this.#badge, "aria-expanded", "false");
    this.#panel = new Panel(REGISTRY.network, this.#arrangement, {
      close: () => this.close(),
      arranged: (change) => this.#arrange(change),
      changed: () => this.#schedule(),
    });
    const aside = h("aside", "", this.#badge, this.#panel.element);
    set(aside, "aria-label", "Groupwire devtools");
    this.#root.append(aside);
  }

  /** True while the panel is open. */
  get isOpen(): boolean {
    return !this.#panel.element.hidden;
  }

  open(): void {
    if (this.isOpen) return;
    this.#arrange({ isOpen: true });
    this.#begin();
    this.#panel.focus();
  }

  close(): void {
    if (!this.isOpen) return;
    this.#arrange({ isOpen: false });
    this.#begin();
    this.#badge.focus();
  }

  connectedCallback(): void {
    this.#begin();
  }

  disconnectedCallback(): void {
    this.#end();
  }

  #arrange(change: Partial<Arrangement>): void {
    this.#arrangement = { ...this.#arrangement, ...change };
    remember(this.#arrangement);
    this.#schedule();
  }

  /** Listens to what is shown: to everything while the panel is open, to states while it is not. */
  #begin(): void {
    this.#end();
    if (!this.isConnected) return;
    const { isOpen } = this.#arrangement;
    this.#watches = REGISTRY.watches;
    this.#panel.element.hidden = !isOpen;
    this.#badge.hidden = isOpen;
    const schedule = (): void => this.#scheduleSoon();
    this.#stops = [
      REGISTRY.onChange(() => this.#begin()),
      ...this.#watches.map((watch) => (isOpen ? watch.onChange(schedule) : watch.onState(schedule))),
    ];
    if (isOpen) {
      const tick = (): void => {
        REGISTRY.network.prepare();
        schedule();
      };
      tick();
      this.#stops.push(REGISTRY.network.onChange(schedule));
      this.#tick = setInterval(tick, TICK_MS);
    }
    this.#show();
  }

  #end(): void {
    for (const stop of this.#stops.splice(0)) stop();
    clearInterval(this.#tick);
    clearTimeout(this.#pause);
    this.#pause = undefined;
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
  }

  /** Shows everything anew after a pause, once for all changes until then. */
  #scheduleSoon(): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#schedule();
    }, PAUSE_MS);
  }

  /** Shows everything anew in the next frame, as after something that the user does. */
  #schedule(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#show();
    });
  }

  #show(): void {
    set(this, "side", this.#arrangement.side);
    const { look, text } = stateOf(this.#watches);
    this.#badge.className = `badge ${look}`;
    say(this.#badgeText, text);
    set(this.#badge, "aria-label", `Groupwire: ${text}. Open the devtools`);
    if (this.isOpen) this.#panel.show(this.#watches, this.#arrangement);
  }
}

/** Styles in a form that a content security policy without `unsafe-inline` permits. */
function adopt(root: ShadowRoot): void {
  if (!("adoptedStyleSheets" in root)) {
    // Only test environments lack `adoptedStyleSheets`.
    (root as ShadowRoot).append(h("style", "", STYLES));
    return;
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  root.adoptedStyleSheets.push(sheet);
}
