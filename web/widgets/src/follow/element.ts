/**
 * `<gw-follow>`: shows the view of another person. An avatar or `follow(id)` chooses the person; a
 * wheel, a press, a key or the button ends it. Attributes: `room`, `channel`, `for`, `coords`.
 */

import type { Room } from "groupwire";
import type { Place } from "groupwire/motion";
import { FUNCTION } from "../core/arguments.js";
import type { Stops } from "../core/element.js";
import { Following } from "../core/following.js";
import { onInput } from "../core/keys.js";
import { peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { StageWidget } from "../core/stage-element.js";
import type { Stage } from "../core/stage.js";
import { FOLLOW, type FollowTexts } from "../core/texts.js";
import { Views } from "../core/views.js";
import { button, made, placeAt, say, setPart } from "../shared/dom.js";
import { STYLES } from "./styles.js";

/**
 * What the event `gw-view` says: the followed person's view, which the page shows unless the event
 * is prevented.
 */
export interface ViewEvent {
  readonly id: number;
  /** Left, top, width and height in the coordinates of `coords`. */
  readonly view: Place;
}

/** `<gw-follow>`: shows the view of another person. */
export class Follower extends StageWidget<FollowTexts> {
  static override readonly observedAttributes = ["room", "channel", "for", "coords"];
  readonly #text = made("span", "text");
  readonly #stop = button("", "", () => this.follow(undefined));
  readonly #bar = made("div", "bar", "person", this.#text, this.#stop);
  readonly #watched = made("div", "watched");
  readonly #frame = made("div", "frame", "", this.#bar, this.#watched);
  readonly #said = made("span", "said", "unseen");
  #view: (() => Place) | undefined;
  #room: Room | undefined;
  #views: Views | undefined;
  #stage: Stage | undefined;
  #followed: Shown | undefined;
  #release = (): void => {};

  constructor() {
    super(STYLES, FOLLOW);
    setPart(this.#stop, "stop");
    this.#said.role = "status";
    this.root.append(this.#frame, this.#said);
  }

  /**
   * Returns the own view, for an application that does not scroll but has a camera. Call `refresh`
   * when it has changed.
   */
  set view(view: (() => Place) | undefined) {
    this.check("view", view, FUNCTION);
    this.#view = view;
    this.restart();
  }

  override refresh(): void {
    const stage = this.#stage;
    if (!stage) return;
    placeAt(this.#frame, stage.box);
    this.#views?.setView(this.#view?.() ?? stage.view);
  }

  /** Follows the person of the participant `id`; undefined stops following. */
  follow(id: number | undefined): void {
    if (!this.#room) return;
    const person = peopleIn(this.#room, this.words.guest).find(({ ids }) => id !== undefined && ids.includes(id));
    Following.in(this.#room).set(person?.key);
  }

  protected override attach({ room }: JoinedRoom): Stops {
    const stage = this.makeStage();
    if (!stage) return [];
    const views = Views.in(room, this.getAttribute("channel") ?? "follow");
    [this.#room, this.#stage, this.#views] = [room, stage, views];
    say(this.#stop, this.words.stop);
    const following = Following.in(room);
    const stops = [
      () => {
        following.set(undefined);
        this.#show();
        [this.#room, this.#stage, this.#views] = [undefined, undefined, undefined];
      },
      views.use(() => this.#draw()),
      following.onChange(() => this.#show()),
      room.on("participants", () => this.#show()),
      // A key made of an id may belong to another person after this gap.
      room.on(
        "gap",
        ({ reason }) =>
          reason !== "history" && reason !== "reset" && following.key?.startsWith("id ") && following.set(undefined),
      ),
      ...stage.onMoved(() => this.refresh()),
      ...onInput(stage.element, () => following.set(undefined)),
    ];
    this.refresh();
    this.#show();
    return stops;
  }

  /** Shows the followed person, and asks for that person's view. */
  #show(): void {
    const room = this.#room;
    if (!room) return;
    const { words } = this;
    const following = Following.in(room);
    const people = peopleIn(room, words.guest);
    const before = this.#followed;
    const person = people.find(({ key, isSelf }) => key === following.key && !isSelf);
    this.#followed = person;
    if (person?.id !== before?.id) {
      this.#release();
      this.#release = person ? (this.#views?.want(person.id) ?? (() => {})) : () => {};
    }
    if (person?.key !== before?.key) {
      say(this.#said, person ? words.following(person.name) : words.stopped(before?.name ?? ""));
    }
    this.#bar.hidden = !person;
    setPart(this.#frame, "frame", person !== undefined && "following");
    if (person) {
      this.#frame.style.setProperty("--_person", person.color);
      say(this.#text, words.following(person.name));
    } else if (following.key !== undefined) following.set(undefined);
    this.#draw();
  }

  /** Shows the view of the followed person, and who follows this participant. */
  #draw(): void {
    const [room, stage, views] = [this.#room, this.#stage, this.#views];
    if (!room || !stage || !views) return;
    this.#showWatchers(room, views.watchers);
    const id = this.#followed?.id;
    const view = id === undefined ? undefined : views.shown.get(id);
    if (id === undefined || !view) return;
    const detail: ViewEvent = { id, view };
    if (!this.emit("gw-view", detail)) return;
    const [x = 0, y = 0, w = 0, h = 0] = view;
    stage.centre([x + w / 2, y + h / 2]);
  }
  #showWatchers(room: Room, watchers: readonly number[]): void {
    if (watchers.length === 0) return say(this.#watched, "");
    const people = peopleIn(room, this.words.guest).filter(
      ({ ids, isSelf }) => !isSelf && ids.some((id) => watchers.includes(id)),
    );
    say(this.#watched, this.words.followed(people.map(({ name }) => name)));
  }
}
