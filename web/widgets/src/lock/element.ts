/**
 * `<gw-lock>`: a button that takes a lock of `groupwire/shared` and gives it back, and shows its
 * holder. Attributes: `room`, `name` of the lock in the room's shared data, `for`: an element that
 * only the holder of the lock can use.
 */

import type { Room } from "groupwire";
import type { SharedLock } from "groupwire/shared";
import { FUNCTION } from "../core/arguments.js";
import { Widget, type Stops } from "../core/element.js";
import { byParticipant, peopleIn } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { targetOf } from "../core/stage.js";
import { LOCK, type LockTexts } from "../core/texts.js";
import { button, made, say, setPart } from "../shared/dom.js";

/** The detail of the event `gw-lock`, emitted when the holder has changed. */
export interface LockEvent {
  /** The id of the participant that has it. */
  readonly holder: number | undefined;
  readonly isMine: boolean;
}

/** `<gw-lock>`: a button that takes a lock and gives it back, and shows its holder. */
export class Lock extends Widget<LockTexts> {
  static override readonly observedAttributes = ["room", "name", "for"];
  readonly #dot = made("span", "dot");
  readonly #text = made("span", "text");
  readonly #button = button("", "", () => this.#press());
  readonly #said = made("span", "said", "unseen");
  #own: SharedLock | undefined;
  #lock: SharedLock | undefined;
  #isAsking = false;
  #refresh = (): void => {};

  constructor() {
    super(STYLES, LOCK);
    this.#button.append(this.#dot, this.#text);
    this.#said.role = "status";
    this.root.append(this.#button, this.#said);
  }

  /** The lock, instead of the one that the attribute `name` names. */
  get lock(): SharedLock | undefined {
    return this.#own;
  }

  set lock(lock: SharedLock | undefined) {
    this.check("lock", lock, ["a lock of `groupwire/shared`", (value) => FUNCTION[1](value.acquire)]);
    this.#own = lock;
    this.restart();
  }

  protected override attach({ room, shared }: JoinedRoom): Stops {
    const name = this.getAttribute("name") ?? "";
    const lock = this.#own ?? (shared as Readonly<Record<string, SharedLock>> | undefined)?.[name];
    if (!lock) {
      console.error(
        `<gw-lock name="${name}">: the shared data of the room have no lock of this name; set \`name\` or \`lock\``,
      );
      return [];
    }
    [this.#lock, this.#isAsking] = [lock, false];
    const target = this.hasAttribute("for") ? targetOf(this) : undefined;
    let told: number | undefined;
    const show = (): void => {
      this.#show(room, lock);
      target?.toggleAttribute("inert", !lock.isMine);
      if (told === lock.holder) return;
      told = lock.holder;
      const detail: LockEvent = { holder: lock.holder, isMine: lock.isMine };
      this.emit("gw-lock", detail);
    };
    this.#refresh = show;
    const answer = (): void => {
      this.#isAsking = false;
      show();
    };
    show();
    return [
      () => (this.#lock = undefined),
      () => target?.removeAttribute("inert"),
      lock.subscribe(answer),
      // If another participant was faster, the lock does not change: the end of `pending` is then
      // the answer.
      room.on("pending", (count) => (count === 0 ? answer() : undefined)),
      room.subscribe(show),
    ];
  }

  #show(room: Room, lock: SharedLock): void {
    const { words } = this;
    const { holder, isMine } = lock;
    const person = holder === undefined ? undefined : byParticipant(peopleIn(room, words.guest)).get(holder);
    const isTaken = holder !== undefined && !isMine;
    const name = person?.name ?? words.guest;
    const state = isMine ? "mine" : isTaken ? "taken" : this.#isAsking ? "asking" : "free";
    const texts = { mine: words.release, taken: words.taken(name), asking: words.asking, free: words.take };
    say(this.#text, texts[state]);
    say(this.#said, isTaken ? words.taken(name) : isMine ? words.mine : words.free);
    setPart(this.#button, "button", state);
    // Unlike `disabled`, this keeps the focus on the button.
    this.#button.ariaDisabled = String(isTaken || this.#isAsking);
    this.#dot.hidden = holder === undefined;
    this.#dot.style.setProperty("--_person", person?.color ?? "gray");
  }

  #press(): void {
    const lock = this.#lock;
    if (!lock || (lock.holder !== undefined && !lock.isMine)) return;
    if (lock.isMine) return lock.release();
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#refresh();
    lock.acquire();
  }
}

const STYLES = `
:host { display: inline-block; }
button {
  display: flex;
  align-items: center;
  gap: 7px;
  padding: 6px 14px;
  border-radius: var(--_radius);
  font-weight: 550;
  color: var(--_on-accent);
  background: var(--_accent);
}
[part~="taken"], [part~="asking"] { color: var(--_text); background: var(--_hover); cursor: default; }
[part~="dot"] { width: 9px; height: 9px; border-radius: 50%; background: var(--_person); box-shadow: 0 0 0 1.5px var(--_surface); }
`;
