/**
 * The base of the widgets: which room a widget shows, its texts and styles, and when it begins and
 * ends.
 */

import { check, OBJECT, ROOM, type Rule } from "./arguments.js";
import { Base } from "./define.js";
import { attachTo, type AnyRoom, type JoinedRoom } from "./room.js";
import { onConfigured, settings } from "./settings.js";
import { adopt, BASE } from "./styles.js";

/** Functions that end what a widget has begun. */
export type Stops = (() => void)[];

export abstract class Widget<Words extends object> extends Base {
  static readonly observedAttributes: readonly string[] = ["room"];
  protected readonly root: ShadowRoot;
  readonly #defaults: Words;
  #room: AnyRoom | undefined;
  #texts: Partial<Words> = {};
  #stops: Stops = [];
  #isScheduled = false;

  constructor(styles: string, words: Words) {
    super();
    this.#defaults = words;
    this.root = this.attachShadow({ mode: "open" });
    adopt(this.root, BASE + styles);
  }

  /**
   * The room that is shown: an own one, the one that the attribute `room` names, or that of
   * `configure`.
   */
  get room(): AnyRoom | undefined {
    const name = this.getAttribute("room");
    return this.#room ?? (name === null ? settings().room : settings().rooms?.[name]);
  }

  set room(room: AnyRoom | undefined) {
    this.check("room", room, ROOM);
    this.#room = room;
    this.restart();
  }

  /** Texts that replace those of `configure` and the English ones, in this element. */
  get texts(): Partial<Words> {
    return this.#texts;
  }

  set texts(texts: Partial<Words>) {
    this.check("texts", texts, OBJECT);
    this.#texts = texts;
    this.restart();
  }

  connectedCallback(): void {
    // Properties that were set before the element was defined would hide those of its class.
    for (const name of Object.keys(this)) {
      if (!(name in Object.getPrototypeOf(this))) continue;
      const value: unknown = Reflect.get(this, name);
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, value);
    }
    this.restart();
  }

  disconnectedCallback(): void {
    this.restart();
  }

  attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
    if (before !== now) this.restart();
  }

  /**
   * Shows the parts that do not depend on a room. Called before `attach`. The returned functions
   * end it.
   */
  protected begin(): Stops {
    return [];
  }

  /** Shows a room. The returned functions end it. */
  protected abstract attach(joined: JoinedRoom): Stops;

  /** The texts that are shown. */
  protected get words(): Words {
    return { ...this.#defaults, ...(settings().texts as Partial<Words> | undefined), ...this.#texts };
  }

  /** Emits an event. Returns false if the page has prevented the default action. */
  protected emit(name: string, detail: object): boolean {
    return this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true, cancelable: true }));
  }

  /** Refuses a wrong value of a property. */
  protected check(name: string, value: unknown, rule: Rule): void {
    check(value, `the property \`${name}\` of <${this.localName}>`, rule);
  }

  /** A number that an attribute has, at most {@link MOST}. */
  protected number(name: string, otherwise: number): number {
    const text = this.getAttribute(name);
    const value = Number(text);
    return text && Number.isFinite(value) ? Math.min(value, MOST) : otherwise;
  }

  /**
   * Shows everything anew, once for all changes of a task, and ends if the element is not in the
   * page any more.
   */
  protected restart(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      stopAll(this.#stops);
      if (this.isConnected) this.#start();
    });
  }

  #start(): void {
    const { room } = this;
    this.#stops = [onConfigured(() => this.restart()), ...this.begin()];
    if (!room) return;
    this.#stops.push(
      attachTo(room, (joined) => {
        const stops = this.attach(joined);
        return () => stopAll(stops);
      }),
    );
  }
}

/**
 * As seconds, eleven days. Timers wait for 24 days at most, and end at once if they are to wait
 * longer.
 */
const MOST = 1e6;

function stopAll(stops: Stops): void {
  for (const stop of stops.splice(0).reverse()) stop();
}
