/**
 * `<gw-cursors>`: the pointers of others over an element or the page, and one's own sent to them.
 * Attributes: `room`, `channel`, `for`, `coords`, `traces`, `chat`, `idle`, `watch`. Whoever leaves
 * or loses the connection has no pointer any more.
 */

import type { Channel, Message, Payload, Room } from "groupwire";
import { follow, type Follow, type FollowedView, type Place, type TraceView } from "groupwire/motion";
import { FUNCTION } from "../core/arguments.js";
import { channelOf, CURSOR } from "../core/channels.js";
import type { Stops } from "../core/element.js";
import { readPlace } from "../core/messages.js";
import { byParticipant, peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { StageWidget } from "../core/stage-element.js";
import type { Stage } from "../core/stage.js";
import { wantsStillness } from "../core/styles.js";
import { CURSORS, type CursorTexts } from "../core/texts.js";
import { made } from "../shared/dom.js";
import type { Chat } from "./chat.js";
import { Figure } from "./figure.js";
import { sendPointer } from "./pointer.js";
import { STYLES } from "./styles.js";
import type { drawTraces } from "./traces.js";

/** Seconds after which a resting pointer fades, so that it does not hide the content below it. */
const IDLE_S = 6;

/** Milliseconds for which a trace is seen. */
const TRACE_MS = 600;

/** `<gw-cursors>`: the pointers of others, and the own one sent to them. */
export class Cursors extends StageWidget<CursorTexts> {
  static override readonly observedAttributes = ["room", "channel", "for", "coords", "traces", "chat", "idle", "watch"];
  readonly #layer = made("div", "layer");
  readonly #canvas = made("canvas", "traces");
  #drawTraces: typeof drawTraces | undefined;
  readonly #figures = new Map<number, Figure>();
  #read: ((message: Message) => Place | null | undefined) | undefined;
  #write: ((place: Place | null) => Payload) | undefined;
  #held: ((id: number) => Place | undefined) | undefined;
  #follow: Follow | undefined;
  #stage: Stage | undefined;
  #people = new Map<number, Shown>();
  #chat: Chat | undefined;
  #point = (_: Place | null): void => {};
  #alarm: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super(STYLES, CURSORS);
    // Pointers are only visual: other widgets tell screen readers who is present, and the chat
    // reads messages out.
    this.#layer.ariaHidden = "true";
    this.root.append(this.#layer);
  }

  /**
   * Reads a message of the channel: a place, null if the pointer has left. Default: `[x, y]`, `{ x,
   * y }` or `null`.
   */
  set read(read: ((message: Message) => Place | null | undefined) | undefined) {
    this.check("read", read, FUNCTION);
    this.#read = read;
    this.restart();
  }

  /**
   * Makes the message that tells the own place. Default: `[x, y]`, and `null` if the pointer has
   * left.
   */
  set write(write: ((place: Place | null) => Payload) | undefined) {
    this.check("write", write, FUNCTION);
    this.#write = write;
    this.restart();
  }

  /**
   * Sets the function that returns the place of the thing that a participant is drawing or
   * dragging. Its pointer is shown there without a trace, because the thing may be shown with
   * another delay than the pointer. Call `refresh` while the thing moves.
   */
  set held(held: ((id: number) => Place | undefined) | undefined) {
    this.check("held", held, FUNCTION);
    this.#held = held;
    this.refresh();
  }

  override refresh(): void {
    if (this.#follow) this.#draw(this.#follow.views(), this.#follow.traces());
  }

  /** Where a participant points; undefined if it does not. */
  placeOf(id: number): Place | undefined {
    return this.#follow?.views().find(({ sender, isGone }) => sender === id && !isGone)?.place;
  }

  protected override attach({ room }: JoinedRoom): Stops {
    const stage = (this.#stage = this.makeStage());
    if (!stage) return [];
    const name = this.getAttribute("channel") ?? "cursor";
    const channel = channelOf(room, name, CURSOR);
    const hasTraces = this.hasAttribute("traces") && !wantsStillness();
    if (hasTraces) {
      this.#layer.prepend(this.#canvas);
      // Only pages with traces load the code that draws them.
      void import("./traces.js").then((module) => (this.#drawTraces = module.drawTraces));
    }
    const cursors = (this.#follow = follow(room, channel, {
      ...(hasTraces && { trace: TRACE_MS }),
      read: this.#read ?? readPlace,
      draw: (views, traces) => this.#draw(views, traces),
    }));
    const rename = (): void => {
      this.#people = byParticipant(peopleIn(room, this.words.guest));
      for (const [id, figure] of this.#figures) figure.show(this.#people.get(id));
    };
    rename();
    return [
      () => this.#clear(),
      () => cursors.stop(),
      room.on("participants", rename),
      ...stage.onMoved(() => this.refresh()),
      ...this.#send(room, channel, stage),
      ...(this.hasAttribute("chat") ? this.#talk(room, name, stage) : []),
    ];
  }

  #send(room: Room, channel: Channel, stage: Stage): Stops {
    if (this.hasAttribute("watch")) return [];
    const write = this.#write ?? ((place) => JSON.stringify(place));
    this.#point = (place) => {
      // Without a receiver or a connection a place is of no use later.
      if (room.status === "connected" && room.participants.size > 0) channel.send(write(place));
    };
    return sendPointer(stage, this.#point);
  }

  #talk(room: Room, name: string, stage: Stage): Stops {
    let isOver = false;
    const host = {
      root: this.root,
      personOf: (id: number) => this.#people.get(id),
      point: (place: Place) => this.#point(place),
      said: () => this.refresh(),
    };
    // Only pages with a chat at the cursors load its code.
    void import("./chat.js").then(({ Chat }) => {
      if (!isOver) this.#chat = new Chat(room, `${name}-chat`, stage, this.words, host);
    });
    return [
      () => {
        isOver = true;
        this.#chat?.stop();
        this.#chat = undefined;
      },
    ];
  }

  #draw(views: readonly FollowedView[], traces: readonly TraceView[]): void {
    const stage = this.#stage;
    if (!stage) return;
    this.#layer.style.clipPath = stage.clip();
    const idle = this.number("idle", IDLE_S) * 1000;
    const shown = new Set<number>();
    let next = Infinity;
    let lines = traces;
    for (const { sender, place, isGone, rested } of views) {
      if (isGone) continue;
      shown.add(sender);
      const isIdle = rested >= idle;
      if (!isIdle) next = Math.min(next, idle - rested);
      const held = this.#held?.(sender);
      if (held) {
        this.#follow?.clearTraces(sender);
        lines = lines.filter((trace) => trace.sender !== sender);
      }
      this.#figure(sender).place(stage.toWindow(held ?? place), isIdle, this.#chat?.textOf(sender) ?? "");
    }
    for (const [id, figure] of this.#figures) {
      if (shown.has(id)) continue;
      figure.element.remove();
      this.#figures.delete(id);
    }
    if (this.#canvas.isConnected)
      this.#drawTraces?.(this.#canvas, lines, stage, (id) => this.#people.get(id)?.color ?? "gray");
    clearTimeout(this.#alarm);
    if (next < Infinity) this.#alarm = setTimeout(() => this.refresh(), next + 1);
  }

  #figure(id: number): Figure {
    const known = this.#figures.get(id);
    if (known) return known;
    const figure = new Figure();
    figure.show(this.#people.get(id));
    this.#layer.append(figure.element);
    this.#figures.set(id, figure);
    return figure;
  }

  #clear(): void {
    clearTimeout(this.#alarm);
    this.#follow = undefined;
    this.#figures.clear();
    this.#layer.replaceChildren();
  }
}
