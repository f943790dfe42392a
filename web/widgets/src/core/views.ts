/**
 * The views of participants: the part of the content that each of them sees. A participant sends
 * its view only while another one wants it, so each sends on the same channel whose views it wants.
 * The key `to` has a list of ids of participants and {@link EVERYBODY}, the key `view` has left,
 * top, width and height.
 */

import { awareness, type Channel, type Message, type Room } from "groupwire";
import { follow, type Follow, type Place } from "groupwire/motion";
import { channelOf } from "./channels.js";
import { jsonOf, onLeft } from "./messages.js";

export const EVERYBODY = -1;
/** What a participant has told at first. */
const NOTHING: Record<string, string> = { to: "[]", view: "" };

/** The largest number of views that a participant may want. */
const WANTED = 8;

export class Views {
  static readonly #all = new WeakMap<Room<any>, Map<string, Views>>();
  readonly #room: Room;
  readonly #channel: Channel;
  readonly #wants = new Set<{ readonly who: number }>();
  /** The ids whose views each of the others wants. */
  readonly #wanted = new Map<number, readonly unknown[]>();
  readonly #listeners = new Set<() => void>();
  /** The last list that was sent, and the last view, which is empty while nobody wants it. */
  #told = NOTHING;
  #view: Place | undefined;
  #follow: Follow | undefined;
  #stops: (() => void)[] = [];

  private constructor(room: Room, name: string) {
    this.#room = room;
    this.#channel = channelOf(room, name, awareness({ maxRate: 15, loss: 0.05, deadline: 300 }));
  }

  /** The views of a room on a channel. All widgets of a page share them. */
  static in(room: Room<any>, channel: string): Views {
    const channels = Views.#all.get(room) ?? new Map<string, Views>();
    const views = channels.get(channel) ?? new Views(room, channel);
    Views.#all.set(room, channels.set(channel, views));
    return views;
  }

  /**
   * Takes part until the returned function is called. Calls `listener` when a view has changed, or
   * who follows whom.
   */
  use(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#begin();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#end();
    };
  }

  /** Asks for the view of a participant, or of everybody, until the returned function is called. */
  want(who: number): () => void {
    const want = { who };
    this.#wants.add(want);
    this.#send();
    return () => {
      this.#wants.delete(want);
      this.#send();
    };
  }

  /** Sets the own view, and sends it if it is wanted. */
  setView(view: Place): void {
    this.#view = view;
    this.#send();
  }

  /** The views that are known, smoothly followed, by participant. */
  get shown(): Map<number, Place> {
    return new Map(this.#follow?.views().map(({ sender, place }) => [sender, place]));
  }

  /** The participants that follow this one. */
  get watchers(): number[] {
    const self = this.#room.self?.id;
    return [...this.#wanted].filter(([, all]) => all.includes(self)).map(([id]) => id);
  }

  get #isWanted(): boolean {
    const self = this.#room.self?.id;
    return [...this.#wanted.values()].some((all) => all.includes(self) || all.includes(EVERYBODY));
  }

  #begin(): void {
    const room = this.#room;
    const changed = (): void => {
      for (const listener of [...this.#listeners]) listener();
    };
    this.#follow = follow(room, this.#channel, { read: readView, draw: changed });
    this.#stops = [
      () => this.#follow?.stop(),
      this.#channel.on("message", (message) => this.#receive(message) && changed()),
      ...onLeft(room, (isHere) => {
        for (const id of [...this.#wanted.keys()]) if (!isHere(id)) this.#wanted.delete(id);
        this.#send();
        changed();
      }),
      room.on("gap", ({ reason }) => {
        if (reason === "history") return;
        // The room has lost what was sent last.
        this.#told = NOTHING;
        this.#send();
      }),
      room.on("status", () => this.#send()),
    ];
    this.#send();
  }

  #end(): void {
    this.#wants.clear();
    this.#send();
    for (const stop of this.#stops.splice(0)) stop();
    this.#wanted.clear();
    this.#follow = undefined;
  }

  /**
   * Sends the list of wanted views if it has changed, and the own view if it is wanted and has
   * changed, or is wanted again.
   */
  #send(): void {
    if (this.#room.status !== "connected") return;
    const before = this.#told;
    this.#told = {
      to: JSON.stringify([...new Set([...this.#wants].map(({ who }) => who))]),
      view: this.#isWanted && this.#view ? JSON.stringify(this.#view) : "",
    };
    for (const [key, text] of Object.entries(this.#told)) {
      if (text && text !== before[key]) this.#channel.send(text, { key });
    }
  }

  #receive(message: Message): boolean {
    const { key, sender, own } = message;
    if (own || key !== "to") return false;
    const all = jsonOf(message);
    this.#wanted.set(sender, Array.isArray(all) ? all.slice(0, WANTED) : []);
    this.#send();
    return true;
  }
}

/** A view: four numbers, of which the last two are a size. */
function readView(message: Message): Place | undefined {
  if (message.key !== "view") return undefined;
  const view = message.json<Place>();
  return view.length === 4 && Math.min(...view.slice(2)) >= 0 ? view : undefined;
}
