/**
 * `<gw-selection>`: frames around what others have selected. Attributes: `room`, `channel`, `for`:
 * the element that holds the things, `by`: the attribute that has their ids, `focus`: what has the
 * focus is selected.
 */

import { awareness, type Channel, type Message, type Room } from "groupwire";
import { FUNCTION, type Rule } from "../core/arguments.js";
import { channelOf } from "../core/channels.js";
import type { Stops } from "../core/element.js";
import { listen } from "../core/listen.js";
import { jsonOf, onLeft } from "../core/messages.js";
import { peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { StageWidget } from "../core/stage-element.js";
import type { Stage } from "../core/stage.js";
import { SELECTION, type SelectionTexts } from "../core/texts.js";
import { h, made, placeAt, set, type Box } from "../shared/dom.js";
import { STYLES } from "./styles.js";

/** Limits of what others may select: more frames would hide the page. */
const [IDS, LENGTH] = [100, 200];

/** Frames and names reach beyond the element by this much, in pixels. */
const MARGIN = 20;

/**
 * The largest number of characters that a screen reader reads of a thing without a name of its own.
 */
const LABEL = 60;

const TEXTS: Rule = [
  "a list of texts",
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
];

/** `<gw-selection>`: frames around what others have selected. */
export class SelectionFrames extends StageWidget<SelectionTexts> {
  static override readonly observedAttributes = ["room", "channel", "for", "by", "focus"];
  readonly #layer = made("div", "layer");
  readonly #list = h("ul", "unseen");
  readonly #selections = new Map<number, readonly string[]>();
  #selected: readonly string[] = [];
  #boxOf: ((id: string) => Box | undefined) | undefined;
  #channel: Channel | undefined;
  #room: Room | undefined;
  #stage: Stage | undefined;
  #frame = 0;
  /** True once a selection was sent: before that, an empty one need not be sent. */
  #wasSent = false;

  constructor() {
    super(STYLES, SELECTION);
    this.#layer.ariaHidden = "true";
    this.#list.role = "list";
    this.root.append(this.#layer, this.#list);
  }

  /** The ids of what this participant has selected. */
  get selected(): readonly string[] {
    return this.#selected;
  }

  set selected(ids: readonly string[]) {
    this.check("selected", ids, TEXTS);
    const next = ids ?? [];
    if (String(next) === String(this.#selected)) return;
    this.#selected = [...next];
    this.#sendSelection();
  }

  /**
   * Returns where a thing is in the window, for an application that draws on a canvas. Call
   * `refresh` when things have moved.
   */
  set boxOf(boxOf: ((id: string) => Box | undefined) | undefined) {
    this.check("boxOf", boxOf, FUNCTION);
    this.#boxOf = boxOf;
    this.refresh();
  }

  /** Draws the frames anew, in the next animation frame. */
  override refresh(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  protected override attach({ room }: JoinedRoom): Stops {
    const stage = this.makeStage();
    if (!stage) return [];
    const { element } = stage;
    const channel = channelOf(
      room,
      this.getAttribute("channel") ?? "selection",
      awareness({ maxRate: 10, loss: 0.01 }),
    );
    [this.#room, this.#channel, this.#stage] = [room, channel, stage];
    this.#sendSelection();
    const refresh = (): void => this.refresh();
    const observer = new MutationObserver(refresh);
    observer.observe(element, { subtree: true, childList: true, attributes: true, characterData: true });
    const focus = ({ target }: Event): void => {
      if (!this.hasAttribute("focus")) return;
      const id = target instanceof Element ? target.closest(`[${this.#by}]`)?.getAttribute(this.#by) : undefined;
      this.selected = id ? [id] : [];
    };
    const blur = (): void => {
      if (this.hasAttribute("focus")) this.selected = [];
    };
    return [
      () => this.#clear(),
      () => observer.disconnect(),
      listen(element, { focusin: focus, focusout: blur }),
      ...stage.onMoved(refresh),
      channel.on("message", (message) => this.#receive(message)),
      ...onLeft(room, (isHere) => {
        for (const id of this.#selections.keys()) if (!isHere(id)) this.#selections.delete(id);
        refresh();
      }),
      // After this gap the room has lost the selection that was sent.
      room.on("gap", ({ reason }) => reason !== "history" && this.#sendSelection()),
    ];
  }

  get #by(): string {
    return this.getAttribute("by") ?? "data-id";
  }

  /** Sends the selection. Also to a room without others, because late joiners get it. */
  #sendSelection(): void {
    if (!this.#channel || this.#room?.status === "closed") return;
    if (this.#selected.length > 0 || this.#wasSent) this.#channel.send(this.#selected);
    this.#wasSent ||= this.#selected.length > 0;
  }

  #receive(message: Message): void {
    const { sender, own } = message;
    const ids = own ? undefined : read(message);
    if (!ids) return;
    this.#selections.set(sender, ids);
    this.refresh();
  }

  #draw(): void {
    const [room, stage] = [this.#room, this.#stage];
    if (!room || !stage) return;
    const people = peopleIn(room, this.words.guest).filter(({ isSelf, isAway }) => !isSelf && !isAway);
    this.#layer.style.clipPath = stage.clip(MARGIN);
    const [frames, items]: [HTMLElement[], HTMLElement[]] = [[], []];
    for (const person of people) {
      for (const id of new Set(person.ids.flatMap((participant) => this.#selections.get(participant) ?? []))) {
        const found = this.#find(id, stage);
        if (!found) continue;
        frames.push(frameOf(person, found.box));
        items.push(h("li", "", this.words.selected(person.name, found.label)));
      }
    }
    this.#layer.replaceChildren(...frames);
    set(this.#list, "aria-label", this.words.selections);
    this.#list.hidden = items.length === 0;
    const texts = (elements: Iterable<Element>): string =>
      [...elements].map(({ textContent }) => textContent).join("\n");
    // A list that stays the same is left alone, so that a screen reader keeps its place.
    if (texts(this.#list.children) !== texts(items)) this.#list.replaceChildren(...items);
  }

  #find(id: string, { element }: Stage): { readonly box: Box; readonly label: string } | undefined {
    if (this.#boxOf) {
      const box = this.#boxOf(id);
      return box && { box, label: id };
    }
    const found = [...element.querySelectorAll(`[${this.#by}]`)].find((one) => one.getAttribute(this.#by) === id);
    if (!found) return undefined;
    const label = (found.ariaLabel ?? found.textContent ?? "").trim().slice(0, LABEL) || id;
    return { box: found.getBoundingClientRect(), label };
  }

  #clear(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#selections.clear();
    this.#layer.replaceChildren();
    this.#list.replaceChildren();
    [this.#room, this.#channel, this.#stage] = [undefined, undefined, undefined];
  }
}

function frameOf({ name, color }: Shown, box: Box): HTMLElement {
  const label = made("span", "label", "person", name);
  label.dir = "auto";
  const frame = made("div", "frame", "", label);
  frame.style.setProperty("--_person", color);
  placeAt(frame, box);
  return frame;
}

function read(message: Message): string[] | undefined {
  const ids = jsonOf(message);
  const isList = Array.isArray(ids) && ids.length <= IDS;
  return isList && ids.every((id) => typeof id === "string" && id.length <= LENGTH) ? (ids as string[]) : undefined;
}
