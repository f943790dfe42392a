/**
 * `<gw-voice>`: joins the conversation of a room, mutes, shows who speaks, and has the microphones
 * and everybody's loudness. Attributes: `room`; `channel`; `mode`: `voice`, `push` or `open`.
 */

import type { Room } from "groupwire";
import type { Voice, VoiceMode, VoiceOptions, VoiceState } from "groupwire/voice";
import { OBJECT } from "../core/arguments.js";
import { Widget, type Stops } from "../core/element.js";
import { listen } from "../core/listen.js";
import { byParticipant, peopleIn, type Shown } from "../core/people.js";
import type { JoinedRoom } from "../core/room.js";
import { VOICE, type VoiceTexts } from "../core/texts.js";
import { button, made, say, setPart } from "../shared/dom.js";
import { Devices } from "./devices.js";
import { Speaker } from "./speaker.js";
import { STYLES } from "./styles.js";

/** The detail of the event `gw-voice`, emitted when the user has joined or left. */
export interface VoiceEvent {
  /** Undefined: the user has left. */
  readonly voice: Voice | undefined;
}

/** `<gw-voice>`: a conversation of the people in the room. */
export class VoicePanel extends Widget<VoiceTexts> {
  static override readonly observedAttributes = ["room", "channel", "mode"];
  readonly #join = button("", "", () => void this.join());
  readonly #mute = button("", "", () => this.#voice?.mute(!this.#voice.state.muted));
  readonly #talk = button("", "", () => {});
  readonly #leave = button("", "", () => this.leave());
  readonly #hear = button("", "", () => void this.#voice?.resume());
  readonly #people = made("ul", "people");
  readonly #devices = new Devices((device) => void this.#voice?.setDevice(device));
  readonly #retry = button("", "", () => void this.#voice?.setDevice(this.#devices.chosen));
  readonly #settings = made("summary", "settings");
  readonly #details = made("details", "box", "", this.#settings);
  readonly #problem = made("p", "problem");
  readonly #bar = made("div", "bar", "", this.#mute, this.#talk, this.#hear, this.#retry, this.#details, this.#leave);
  readonly #speakers = new Map<number, Speaker>();
  #options: VoiceOptions = {};
  #room: Room | undefined;
  #voice: Voice | undefined;
  #isLoading = false;
  /** Why joining failed; undefined after the next attempt has begun. */
  #failure: Error | undefined;

  constructor() {
    super(STYLES, VOICE);
    this.#problem.role = "alert";
    this.#details.append(made("div", "card", "", this.#devices.element, this.#people));
    for (const [one, part] of [
      [this.#join, "join"],
      [this.#talk, "talk"],
      [this.#leave, "leave"],
      [this.#hear, "hear"],
      [this.#retry, "retry"],
    ] as const)
      setPart(one, part);
    listenToHold(this.#talk, (talking) => this.#voice?.talk(talking));
    this.#details.addEventListener("toggle", () => void this.#listDevices());
    this.root.append(this.#join, this.#bar, this.#problem);
  }

  /** The options of `joinVoice`, such as a key. They take effect when the user joins. */
  get options(): VoiceOptions {
    return this.#options;
  }

  set options(options: VoiceOptions) {
    this.check("options", options, OBJECT);
    this.#options = options ?? {};
  }

  /** The conversation; undefined while the user has not joined. */
  get voice(): Voice | undefined {
    return this.#voice;
  }

  /** Joins the conversation, as a press on the button does. */
  async join(): Promise<void> {
    const room = this.#room;
    if (!room || this.#voice || this.#isLoading) return;
    this.#isLoading = true;
    this.#failure = undefined;
    this.#show();
    try {
      const { joinVoice } = await import("groupwire/voice");
      // The element may have got another room while the code was loading.
      if (room !== this.#room) return;
      const channel = this.getAttribute("channel");
      const mode = this.getAttribute("mode");
      const given = { ...(channel === null ? {} : { channel }), ...(mode === null ? {} : { mode: mode as VoiceMode }) };
      this.#voice = joinVoice(room, { ...given, ...this.#options });
      this.#voice.on("error", () => this.#show());
      this.#voice.on("devices", () => void this.#listDevices());
      this.#voice.subscribe(() => this.#show());
      this.emit("gw-voice", { voice: this.#voice } satisfies VoiceEvent);
    } catch (error) {
      this.#failure = error as Error;
    } finally {
      this.#isLoading = false;
      this.#show();
    }
  }

  /** Leaves the conversation. */
  leave(): void {
    if (!this.#voice) return;
    this.#voice.leave();
    this.#voice = undefined;
    this.#details.open = false;
    this.emit("gw-voice", { voice: undefined } satisfies VoiceEvent);
    this.#show();
  }

  protected override attach({ room }: JoinedRoom): Stops {
    this.#room = room;
    this.#show();
    return [
      () => {
        this.leave();
        this.#room = undefined;
      },
      room.subscribe(() => this.#show()),
    ];
  }

  protected override begin(): Stops {
    const close = (event: Event): void => {
      if (!event.composedPath().includes(this)) this.#details.open = false;
    };
    this.#show();
    return [listen(document, { pointerdown: close })];
  }

  async #listDevices(): Promise<void> {
    const { words } = this;
    this.#devices.show((await this.#voice?.devices()) ?? [], words.microphone, words.anyMicrophone);
  }

  #show(): void {
    const { words } = this;
    const state = this.#voice?.state;
    this.#join.hidden = state !== undefined;
    this.#bar.hidden = state === undefined;
    this.#join.disabled = this.#isLoading || this.#room === undefined;
    say(this.#join, this.#isLoading ? words.joiningVoice : words.joinVoice);
    if (state) this.#showState(state);
    else this.#showPeople([]);
    const error = state?.blocked ? undefined : (state?.error ?? this.#failure);
    say(this.#problem, error ? words.voiceProblem(error.message) : "");
    this.#problem.hidden = this.#problem.textContent === "";
  }

  #showState({ muted, mode, microphone, blocked, people, speaking }: VoiceState): void {
    const { words } = this;
    const isOn = microphone === "on";
    setPart(this.#mute, "mute", muted && "muted", speaking && "speaking");
    say(this.#mute, microphone === "asking" ? words.askingMicrophone : muted ? words.unmute : words.mute);
    this.#mute.hidden = microphone === "off" || microphone === "failed";
    this.#mute.disabled = !isOn;
    this.#talk.hidden = !isOn || mode !== "push" || muted;
    say(this.#talk, words.holdToTalk);
    this.#hear.hidden = !blocked;
    say(this.#hear, words.hear);
    this.#retry.hidden = microphone !== "failed";
    say(this.#retry, words.tryMicrophone);
    say(this.#leave, words.leaveVoice);
    const known = this.#room ? byParticipant(peopleIn(this.#room, words.guest)) : new Map<number, Shown>();
    const names = (some: VoiceState["people"]): string[] => some.map(({ id }) => known.get(id)?.name ?? words.guest);
    const speakers = names(people.filter((person) => person.speaking));
    say(this.#settings, speakers.length > 0 ? words.speakers(speakers) : words.inVoice(people.length + 1));
    setPart(this.#settings, "settings", speakers.length > 0 && "speaking");
    this.#showPeople(people, known);
  }

  #showPeople(people: VoiceState["people"], known: ReadonlyMap<number, Shown> = new Map()): void {
    for (const [id, speaker] of this.#speakers) {
      if (people.some((person) => person.id === id)) continue;
      speaker.element.remove();
      this.#speakers.delete(id);
    }
    for (const person of people) {
      let speaker = this.#speakers.get(person.id);
      if (!speaker) {
        speaker = new Speaker((volume) => this.#voice?.setVolumeOf(person.id, volume));
        this.#speakers.set(person.id, speaker);
        this.#people.append(speaker.element);
      }
      speaker.show(person, known.get(person.id), this.words);
    }
  }
}

/** Calls `changed` while a button is held by a pointer, or by the space bar or Enter. */
function listenToHold(element: HTMLElement, changed: (isHeld: boolean) => void): void {
  const isKey = ({ key }: KeyboardEvent): boolean => key === " " || key === "Enter";
  const end = (): void => changed(false);
  listen(element, {
    pointerdown: ({ pointerId }: PointerEvent) => {
      // `pointerup` comes to the button even if the pointer has left it.
      element.setPointerCapture?.(pointerId);
      changed(true);
    },
    keydown: (event: KeyboardEvent) => isKey(event) && !event.repeat && changed(true),
    keyup: (event: KeyboardEvent) => isKey(event) && changed(false),
    ...{ pointerup: end, pointercancel: end, blur: end },
  });
}
