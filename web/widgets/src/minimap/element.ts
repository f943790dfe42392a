/**
 * `<gw-minimap>`: a small map of the content with the pointers and views of others, and the own
 * view. A press, a drag or the arrow keys move the own view. Attributes: `room`, `channel` of the
 * cursors, `views` (the channel of `<gw-follow>`), `for`, `coords`. A picture of the content is its
 * child.
 */

import type { Message } from "groupwire";
import { follow, type Follow, type Place } from "groupwire/motion";
import { FUNCTION, type Rule } from "../core/arguments.js";
import { channelOf, CURSOR } from "../core/channels.js";
import type { Stops } from "../core/element.js";
import { readPlace } from "../core/messages.js";
import { byParticipant, peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { StageWidget } from "../core/stage-element.js";
import type { Stage } from "../core/stage.js";
import { MINIMAP, type MinimapTexts } from "../core/texts.js";
import { EVERYBODY, Views } from "../core/views.js";
import { made, setPart } from "../shared/dom.js";
import { STYLES } from "./styles.js";

/**
 * The detail of the event `gw-move`: the centre of the view that the user wants. The page scrolls
 * there unless the event is prevented.
 */
export interface MoveEvent {
  readonly place: Place;
}

const WORLD: Rule = [
  "a list of four numbers",
  (value) => Array.isArray(value) && value.length === 4 && value.every(Number.isFinite),
];

/** A key moves the view by this share of its own size. */
const STEP = 0.25;

const KEYS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** `<gw-minimap>`: a small map of the content with the pointers and views of others. */
export class Minimap extends StageWidget<MinimapTexts> {
  static override readonly observedAttributes = ["room", "channel", "views", "for", "coords"];
  readonly #map = made("div", "map", "", document.createElement("slot"));
  readonly #own = made("div", "own");
  readonly #marks = new Map<string, HTMLElement>();
  #world: Place | undefined;
  #view: (() => Place) | undefined;
  #read: ((message: Message) => Place | null | undefined) | undefined;
  #stage: Stage | undefined;
  #cursors: Follow | undefined;
  #views: Views | undefined;
  #people = new Map<number, Shown>();

  constructor() {
    super(STYLES, MINIMAP);
    Object.assign(this.#map, { tabIndex: 0, role: "application" });
    this.#map.append(this.#own);
    this.#map.addEventListener("keydown", (event) => this.#press(event));
    for (const name of ["pointerdown", "pointermove"] as const) {
      this.#map.addEventListener(name, (event) => event.buttons & 1 && this.#point(event));
    }
    this.root.append(this.#map);
  }

  /**
   * The part of the element that is shown: left, top, width and height. Default: the whole content
   * of the element.
   */
  get world(): Place | undefined {
    return this.#world;
  }

  set world(world: Place | undefined) {
    this.check("world", world, WORLD);
    this.#world = world;
    this.refresh();
  }

  /**
   * Returns the own view, for an application that does not scroll but has a camera. Call `refresh`
   * when it has changed.
   */
  set view(view: (() => Place) | undefined) {
    this.check("view", view, FUNCTION);
    this.#view = view;
    this.refresh();
  }

  /** Reads a message of the cursors' channel, as in `<gw-cursors>`. */
  set read(read: ((message: Message) => Place | null | undefined) | undefined) {
    this.check("read", read, FUNCTION);
    this.#read = read;
    this.restart();
  }

  override refresh(): void {
    if (!this.#stage) return;
    const view = this.#ownView();
    this.#views?.setView(view);
    this.#put(this.#own, view);
    const seen = new Set<string>();
    for (const { sender, place, isGone } of this.#cursors?.views() ?? []) {
      if (!isGone) this.#mark(sender, "dot", place, seen);
    }
    for (const [sender, place] of this.#views?.shown ?? []) this.#mark(sender, "view", place, seen);
    for (const [key, mark] of this.#marks) {
      if (seen.has(key)) continue;
      mark.remove();
      this.#marks.delete(key);
    }
  }

  protected override attach({ room }: JoinedRoom): Stops {
    const stage = (this.#stage = this.makeStage());
    if (!stage) return [];
    this.#map.ariaLabel = this.words.overview;
    const name = this.getAttribute("channel") ?? "cursor";
    const channel = channelOf(room, name, CURSOR);
    const refresh = (): void => this.refresh();
    const rename = (): void => {
      this.#people = byParticipant(peopleIn(room, this.words.guest));
      refresh();
    };
    const cursors = (this.#cursors = follow(room, channel, { read: this.#read ?? readPlace, draw: refresh }));
    const stops = [
      () => this.#clear(),
      () => cursors.stop(),
      room.on("participants", rename),
      ...stage.onMoved(refresh),
    ];
    if (this.hasAttribute("views")) {
      const views = (this.#views = Views.in(room, this.getAttribute("views") || "follow"));
      stops.push(views.use(refresh), views.want(EVERYBODY));
    }
    rename();
    return stops;
  }

  #mark(sender: number, part: string, place: Place, seen: Set<string>): void {
    const key = `${part} ${sender}`;
    const mark = this.#marks.get(key) ?? made("div", part);
    if (!this.#marks.has(key)) this.#map.append(mark);
    this.#marks.set(key, mark);
    seen.add(key);
    mark.style.setProperty("--_person", this.#people.get(sender)?.color ?? "gray");
    setPart(mark, part);
    this.#put(mark, place);
  }

  /** Places a mark, in percents of the map. */
  #put({ style }: HTMLElement, [x = 0, y = 0, w, h]: Place): void {
    const [left = 0, top = 0, width = 1, height = 1] = this.#whole();
    const share = (part: number, whole: number): string => `${((100 * part) / Math.max(whole, 1e-9)).toFixed(2)}%`;
    Object.assign(style, { left: share(x - left, width), top: share(y - top, height) });
    if (w !== undefined && h !== undefined) Object.assign(style, { width: share(w, width), height: share(h, height) });
  }

  #whole(): Place {
    if (this.#world) return this.#world;
    const element = this.#stage?.element;
    return this.coords === "fraction" || !element ? [0, 0, 1, 1] : [0, 0, element.scrollWidth, element.scrollHeight];
  }

  #ownView(): Place {
    return this.#view?.() ?? this.#stage?.view ?? [0, 0, 0, 0];
  }

  #press(event: KeyboardEvent): void {
    const step = KEYS[event.key];
    if (!step) return;
    event.preventDefault();
    const [x = 0, y = 0, w = 0, h = 0] = this.#ownView();
    this.#move([x + w * (0.5 + STEP * step[0]), y + h * (0.5 + STEP * step[1])]);
  }

  #point({ clientX, clientY }: PointerEvent): void {
    const box = this.#map.getBoundingClientRect();
    const [left = 0, top = 0, width = 1, height = 1] = this.#whole();
    this.#move([left + ((clientX - box.left) / box.width) * width, top + ((clientY - box.top) / box.height) * height]);
  }

  #move(place: Place): void {
    const detail: MoveEvent = { place };
    if (this.emit("gw-move", detail)) this.#stage?.centre(place);
    this.refresh();
  }

  #clear(): void {
    [this.#stage, this.#cursors, this.#views] = [undefined, undefined, undefined];
    for (const mark of this.#marks.values()) mark.remove();
    this.#marks.clear();
  }
}
