/**
 * `<gw-avatars>`: the people in a room, each once, however many pages they have open. A press
 * follows a person. Attributes: `room`, `max`, `plain`, `hide-self`, `channel` and `idle`: a person
 * who has sent nothing on this awareness channel for `idle` seconds is faded.
 */

import type { Room } from "groupwire";
import { Widget, type Stops } from "../core/element.js";
import { Following, type FollowEvent } from "../core/following.js";
import { peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { AVATARS, type AvatarTexts } from "../core/texts.js";
import { button, made, say, set, setPart } from "../shared/dom.js";
import type { Activity } from "./activity.js";
import { Avatar } from "./avatar.js";
import { STYLES } from "./styles.js";

/** How many people are shown before the others are a number. */
const MAX = 5;

/** Seconds after which a person counts as idle. */
const IDLE_S = 120;

/** `<gw-avatars>`: the people in a room. */
export class Avatars extends Widget<AvatarTexts> {
  static override readonly observedAttributes = ["room", "max", "plain", "hide-self", "channel", "idle"];
  readonly #list = made("ul", "list");
  readonly #more = button("", "", () => {
    this.#isOpen = !this.#isOpen;
    this.#show();
  });
  readonly #moreItem = made("li", "item", "", this.#more);
  readonly #avatars = new Map<string, Avatar>();
  #room: Room | undefined;
  #activity: Activity | undefined;
  #isOpen = false;

  constructor() {
    super(STYLES, AVATARS);
    setPart(this.#more, "avatar", "more");
    // "+3" is the same in a page from right to left.
    this.#more.dir = "ltr";
    // Safari takes a list without bullets for none.
    this.#list.role = "list";
    this.root.append(this.#list);
  }

  protected override attach({ room }: JoinedRoom): Stops {
    this.#room = room;
    this.#show();
    return [
      () => this.#clear(),
      this.#watch(room),
      room.on("participants", () => this.#show()),
      // The status change may bring the own id.
      room.on("status", () => this.#show()),
      Following.in(room).onChange(() => this.#show()),
    ];
  }

  /** Finds out who is idle. Only pages that show it load what is needed. */
  #watch(room: Room): () => void {
    const channel = this.getAttribute("channel");
    let isOver = channel === null;
    if (channel !== null)
      void import("./activity.js").then(({ Activity }) => {
        if (isOver) return;
        this.#activity = new Activity(room, channel, this.number("idle", IDLE_S) * 1000, () => this.#show());
        this.#show();
      });
    return () => {
      isOver = true;
      this.#activity?.stop();
      this.#activity = undefined;
    };
  }

  #show(): void {
    const room = this.#room;
    if (!room) return;
    const { words } = this;
    const people = peopleIn(room, words.guest).filter(({ isSelf }) => !isSelf || !this.hasAttribute("hide-self"));
    const max = this.number("max", MAX);
    // One more avatar takes no more space than the number.
    const isLong = people.length > max + 1;
    const shown = isLong && !this.#isOpen ? people.slice(0, max) : people;
    set(this.#list, "aria-label", words.people);
    this.#keep(shown);
    shown.forEach((person, at) => this.#place(this.#avatar(person, room).element, at));
    // A large room names only some participants, but sends the number of all.
    const unknown = room.complete ? 0 : Math.max(room.count - room.participants.size - 1, 0);
    const rest = people.length - shown.length + unknown;
    if (!isLong && rest === 0) return this.#moreItem.remove();
    this.#place(this.#moreItem, shown.length);
    const label = rest > 0 ? words.more(rest) : words.fewer;
    say(this.#more, rest > 0 ? `+${rest}` : "−");
    set(this.#more, "aria-label", label);
    set(this.#more, "title", label);
    set(this.#more, "aria-expanded", isLong ? String(this.#isOpen) : null);
    this.#more.disabled = !isLong;
  }

  #avatar(person: Shown, room: Room): Avatar {
    const known = this.#avatars.get(person.key);
    const avatar =
      known ?? new Avatar(person.isSelf || this.hasAttribute("plain"), (shown) => this.#press(shown, room));
    this.#avatars.set(person.key, avatar);
    avatar.show(person, this.words, {
      isIdle: !person.isSelf && !person.isAway && (this.#activity?.isIdle(person.ids) ?? false),
      isFollowed: Following.in(room).key === person.key,
    });
    return avatar;
  }

  /** Leaves elements that are in their place alone, so that the focus stays. */
  #place(element: Element, at: number): void {
    const there = this.#list.children[at];
    if (there !== element) this.#list.insertBefore(element, there ?? null);
  }

  #keep(people: readonly Shown[]): void {
    const keys = new Set(people.map(({ key }) => key));
    for (const [key, { element }] of this.#avatars) {
      if (keys.has(key)) continue;
      element.remove();
      this.#avatars.delete(key);
    }
  }

  /** Follows a person, or nobody any more, unless the page does something else at the event. */
  #press(person: Shown, room: Room): void {
    const following = Following.in(room);
    const isOver = following.key === person.key;
    const detail: FollowEvent = isOver ? { id: undefined, key: undefined } : { id: person.id, key: person.key };
    if (this.emit("gw-follow", detail)) following.set(detail.key);
  }

  #clear(): void {
    this.#keep([]);
    this.#moreItem.remove();
    this.#room = undefined;
  }
}
