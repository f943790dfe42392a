/**
 * Messages at the pointer: `/` opens a field, and others read at the pointer what is typed. Enter
 * ends a message, Escape closes the field. A message that is not changed for some time vanishes.
 * Screen readers read a message once it is complete.
 */

import { awareness, type Channel, type Message, type Room } from "groupwire";
import type { Place } from "groupwire/motion";
import { channelOf } from "../core/channels.js";
import type { Stops } from "../core/element.js";
import type { Shown } from "../core/people.js";
import { isEditable, onKey } from "../core/keys.js";
import { listen } from "../core/listen.js";
import { jsonOf, onLeft } from "../core/messages.js";
import type { Point, Stage } from "../core/stage.js";
import { adopt } from "../core/styles.js";
import type { CursorTexts } from "../core/texts.js";
import { h, made, say } from "../shared/dom.js";

/** Longer messages do not fit at a pointer. */
const LENGTH = 140;

/** Milliseconds after which a message vanishes. */
const STAY_MS = 6000;

/** A message that was not changed for this long (ms) is read out, although it was not ended. */
const PAUSE_MS = 2000;

const STYLES = `
[part~="bubble"] { display: block; white-space: normal; overflow-wrap: anywhere; font-size: 14px; font-weight: 400; }
[part~="bubble"]:empty { display: none; }
[part~="chat"] {
  position: absolute;
  left: 13px;
  top: 17px;
  width: 220px;
  padding: 6px 12px;
  border: 0;
  border-radius: 4px 16px 16px;
  font: inherit;
  font-size: 16px;
  outline: 2px solid var(--_accent);
  outline-offset: 2px;
  pointer-events: auto;
}
[part~="chat"]::placeholder { color: inherit; opacity: 0.85; }
`;

interface Host {
  readonly root: ShadowRoot;
  personOf(id: number): Shown | undefined;
  /** Points at a place, so that others see a pointer at which they can read. */
  point(place: Place): void;
  /** Called when the message of a participant has changed. */
  said(): void;
}

export class Chat {
  readonly #channel: Channel;
  readonly #room: Room;
  readonly #words: CursorTexts;
  readonly #host: Host;
  readonly #input = made("input", "chat", "person");
  readonly #log = h("div", "unseen");
  readonly #texts = new Map<
    number,
    { text: string; vanish: ReturnType<typeof setTimeout>; read: ReturnType<typeof setTimeout> | undefined }
  >();
  readonly #stops: Stops;
  #pointer: Point | undefined;

  constructor(room: Room, name: string, stage: Stage, words: CursorTexts, host: Host) {
    this.#room = room;
    this.#words = words;
    this.#host = host;
    this.#channel = channelOf(room, name, awareness({ maxRate: 8, loss: 0.01 }));
    Object.assign(this.#input, { maxLength: LENGTH, ariaLabel: words.chat, placeholder: words.chatHint, hidden: true });
    this.#input.dir = "auto";
    this.#input.autocomplete = "off";
    this.#log.role = "log";
    adopt(host.root, STYLES);
    host.root.append(this.#input, this.#log);
    const follow = ({ clientX: x, clientY: y }: PointerEvent): void => {
      this.#pointer = { x, y };
      this.#place();
    };
    listen(this.#input, {
      input: () => this.#send(false),
      blur: () => this.#close(),
      keydown: (event: KeyboardEvent) => this.#press(event),
    });
    this.#stops = [
      listen(stage.element, { pointermove: follow }, { passive: true }),
      onKey("/", (event) => {
        if (isEditable(event)) return;
        event.preventDefault();
        this.#open(stage);
      }),
      this.#channel.on("message", (message) => this.#receive(message)),
      ...onLeft(room, (isHere) => this.#keep(isHere)),
    ];
  }

  /** The current message of a participant. */
  textOf(id: number): string {
    return this.#texts.get(id)?.text ?? "";
  }

  stop(): void {
    this.#close();
    this.#keep(() => false);
    for (const stop of this.#stops.splice(0)) stop();
    this.#input.remove();
    this.#log.remove();
  }

  #open(stage: Stage): void {
    const { self } = this.#room;
    if (!self) return;
    this.#input.style.setProperty("--_person", this.#host.personOf(self.id)?.color ?? "gray");
    this.#input.hidden = false;
    if (!this.#pointer) {
      const { left, top, width, height } = stage.box;
      this.#pointer = { x: left + width / 2, y: top + height / 2 };
      this.#host.point(stage.toPlace(this.#pointer));
    }
    this.#place();
    this.#input.focus({ preventScroll: true });
  }

  /** The field is at the pointer, but stays in the window. */
  #place(): void {
    if (this.#input.hidden || !this.#pointer) return;
    const { x, y } = this.#pointer;
    const [most, least] = [innerWidth - 245, 4];
    this.#input.style.transform = `translate(${Math.max(Math.min(x, most), least)}px, ${Math.min(y, innerHeight - 60)}px)`;
  }

  #press(event: KeyboardEvent): void {
    // The keys are for the field, not for shortcuts of the page.
    event.stopPropagation();
    if (event.key === "Escape") this.#close();
    if (event.key !== "Enter" || event.isComposing || this.#input.value === "") return;
    this.#send(true);
    this.#input.value = "";
  }

  #close(): void {
    if (this.#input.hidden) return;
    this.#input.hidden = true;
    if (this.#input.value !== "") this.#send(true);
    this.#input.value = "";
  }

  /** Sends the text, and 1 if it is complete. */
  #send(isOver: boolean): void {
    if (this.#room.status !== "connected" || this.#room.participants.size === 0) return;
    this.#channel.send([this.#input.value, Number(isOver)]);
  }

  #receive(message: Message): void {
    const { sender, own, age } = message;
    const said = own || age > STAY_MS ? undefined : read(message);
    if (!said || !this.#host.personOf(sender)) return;
    const [text, isOver] = said;
    this.#forget(sender);
    if (text.trim() !== "") {
      const vanish = setTimeout(() => this.#keep((id) => id !== sender), STAY_MS);
      const announce = (): void => {
        const { name = "", isAgent = false } = this.#host.personOf(sender) ?? {};
        say(this.#log, this.#words.says(isAgent ? this.#words.agent(name) : name, text));
      };
      const wait = isOver ? 0 : PAUSE_MS;
      this.#texts.set(sender, { text, vanish, read: setTimeout(announce, wait) });
    }
    this.#host.said();
  }

  #keep(isKept: (id: number) => boolean): void {
    for (const id of [...this.#texts.keys()]) if (!isKept(id)) this.#forget(id);
    this.#host.said();
  }

  #forget(id: number): void {
    const known = this.#texts.get(id);
    clearTimeout(known?.vanish);
    clearTimeout(known?.read);
    this.#texts.delete(id);
  }
}

function read(message: Message): [text: string, isOver: boolean] | undefined {
  const value = jsonOf(message);
  const [text, isOver] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof text === "string" ? [text.slice(0, LENGTH), isOver === 1] : undefined;
}
