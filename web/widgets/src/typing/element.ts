/**
 * `<gw-typing>`: who is typing. Attributes: `room`, `channel`, `for`: the field in which this
 * participant types.
 */

import { awareness, type Channel, type Room } from "groupwire";
import { channelOf } from "../core/channels.js";
import { Widget, type Stops } from "../core/element.js";
import { listen } from "../core/listen.js";
import { onLeft } from "../core/messages.js";
import { peopleIn } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { targetOf } from "../core/stage.js";
import { TYPING, type TypingTexts } from "../core/texts.js";
import { made, say } from "../shared/dom.js";

/** Milliseconds after the last key until a participant counts as no longer typing. */
const PAUSE_MS = 4000;

/** While a participant types, it sends so again after this time (ms). */
const AGAIN_MS = 3000;

/**
 * A participant that has sent nothing for this time (ms) has lost the connection, or its page is
 * frozen.
 */
const LOST_MS = 8000;

/** `<gw-typing>`: who is typing. */
export class Typing extends Widget<TypingTexts> {
  static override readonly observedAttributes = ["room", "channel", "for"];
  readonly #text = made("span", "text");
  readonly #dots = made("span", "dots", "", made("i", "dot"), made("i", "dot"), made("i", "dot"));
  /** The typing participants, each with the timer that ends its typing. */
  readonly #typing = new Map<number, ReturnType<typeof setTimeout>>();

  constructor() {
    super(STYLES, TYPING);
    this.#text.role = "status";
    this.#dots.ariaHidden = "true";
    this.#dots.hidden = true;
    this.root.append(this.#text, this.#dots);
  }

  protected override attach({ room }: JoinedRoom): Stops {
    const channel = channelOf(room, this.getAttribute("channel") ?? "typing", awareness({ maxRate: 5, loss: 0.01 }));
    const show = (): void => this.#show(room);
    const forget = (id: number): void => {
      clearTimeout(this.#typing.get(id));
      this.#typing.delete(id);
    };
    const keep = (isHere: (id: number) => boolean): void => {
      for (const id of [...this.#typing.keys()]) if (!isHere(id)) forget(id);
      show();
    };
    return [
      () => keep(() => false),
      channel.on("message", ({ sender, own, data, age, state }) => {
        if (own) return;
        forget(sender);
        const isTyping = data === "1" && !state && age < LOST_MS;
        if (isTyping)
          this.#typing.set(
            sender,
            setTimeout(() => keep((id) => id !== sender), LOST_MS),
          );
        show();
      }),
      ...onLeft(room, keep),
      ...(this.hasAttribute("for") ? reportTyping(room, channel, targetOf(this)) : []),
    ];
  }

  #show(room: Room): void {
    const people = peopleIn(room, this.words.guest);
    const names = people
      .filter(({ ids, isSelf, isAway }) => !isSelf && !isAway && ids.some((id) => this.#typing.has(id)))
      .map(({ name }) => name);
    say(this.#text, this.words.typing(names));
    this.#dots.hidden = names.length === 0;
  }
}

/**
 * Tells that this participant types in a field, until it pauses, leaves the field or has emptied
 * it.
 */
function reportTyping(room: Room, channel: Channel, field: Element | undefined): Stops {
  if (!field) return [];
  let toldAt: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = (text: string): void => {
    if (room.status === "connected" && room.participants.size > 0) channel.send(text);
  };
  const end = (): void => {
    clearTimeout(timer);
    if (toldAt !== undefined) send("0");
    toldAt = undefined;
  };
  const type = (): void => {
    if (((field as HTMLInputElement).value ?? field.textContent) === "") return end();
    clearTimeout(timer);
    timer = setTimeout(end, PAUSE_MS);
    const now = performance.now();
    if (toldAt !== undefined && now - toldAt < AGAIN_MS) return;
    toldAt = now;
    send("1");
  };
  const press = (event: Event): void => {
    // Sending a message empties the field after this event, and causes no `input` event.
    if ((event as KeyboardEvent).key === "Enter")
      setTimeout(() => (field as HTMLInputElement).value === "" && end(), 0);
  };
  return [end, listen(field, { input: type, blur: end, keydown: press })];
}

const STYLES = `
:host { display: inline-flex; align-items: baseline; gap: 5px; min-height: 1.4em; font-size: 13px; color: var(--_quiet); }
[part~="dots"] { display: flex; gap: 3px; }
[part~="dot"] { width: 4px; height: 4px; border-radius: 50%; background: currentcolor; animation: hop 1s infinite alternate; }
[part~="dot"]:nth-child(2) { animation-delay: 0.2s; }
[part~="dot"]:nth-child(3) { animation-delay: 0.4s; }
@keyframes hop { to { transform: translateY(-4px); opacity: 0.4; } }
`;
