/** The participants who are heard, and those who say in their presence that they have joined. */

import type { Room } from "../api.js";
import type { VoicePath, VoicePerson, VoiceReceived } from "./api.js";
import type { Codec } from "./codec.js";
import { readFrame } from "./frame.js";
import { Person } from "./person.js";
import { voiceOf } from "./presence.js";
import type { Secret } from "./secret.js";
import type { Sound } from "./sound.js";

/** The most participants whose sound is played: the server forwards fewer at a time. */
const MOST = 16;
/** The sound of a participant who is silent for this time (ms) is taken away. */
const SILENT_MS = 30_000;
/**
 * For this time (ms) after a frame, frames and not the presence say whether a participant speaks.
 */
const HEARD_MS = 2000;

/** The largest playout delays (ms). A stream holds packets up after a lost one. */
const MAX_DELAYS: Readonly<Record<VoicePath, number>> = { datagrams: 200, stream: 500 };

export interface PeopleOptions {
  readonly room: Room<unknown>;
  readonly secret: Secret | undefined;
  readonly wrongKey: () => void;
}

export class People {
  readonly #options: PeopleOptions;
  readonly #heard = new Map<number, Person>();
  readonly #volumes = new Map<number, number>();
  /** The sound and the codec, once both are loaded. */
  #playing: { readonly sound: Sound; readonly codec: Codec } | undefined;
  #maxDelay = MAX_DELAYS.datagrams;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** From now on, sound is played. */
  play(sound: Sound, codec: Codec): void {
    this.#playing = { sound, codec };
  }

  set path(path: VoicePath) {
    this.#maxDelay = MAX_DELAYS[path];
    for (const person of this.#heard.values()) person.maxDelay = this.#maxDelay;
  }

  /** Takes a message that another participant sent. */
  receive(sender: number, data: string | Uint8Array, now: number): void {
    const frame = readFrame(data);
    const person = frame && this.#personOf(sender, now);
    if (person) void person.receive(frame, now);
  }

  setVolume(id: number, volume: number): void {
    this.#volumes.set(id, volume);
    const person = this.#heard.get(id);
    if (person) person.volume = volume;
  }

  level(id: number, now: number): number {
    return this.#heard.get(id)?.levelAt(now) ?? 0;
  }

  /** Takes away who has left, or is silent. */
  tidy(now: number): void {
    const { participants } = this.#options.room;
    for (const [id, person] of this.#heard)
      if (!participants.has(id) || now - person.heardAt > SILENT_MS) this.#forget(id);
    for (const id of this.#volumes.keys()) if (!participants.has(id)) this.#volumes.delete(id);
  }

  list(now: number): VoicePerson[] {
    const people: VoicePerson[] = [];
    for (const participant of this.#options.room.participants.values()) {
      const { id, away } = participant;
      const person = this.#heard.get(id);
      const said = voiceOf(participant);
      if (away || (said === undefined && !person)) continue;
      const isHeard = person !== undefined && now - person.heardAt < HEARD_MS;
      const speaking = isHeard ? person.isSpeaking(now) : said === "speaking";
      people.push({ id, speaking, muted: said === "muted" && !speaking, volume: this.#volumes.get(id) ?? 1 });
    }
    return people.sort((a, b) => a.id - b.id);
  }

  get stats(): ReadonlyMap<number, VoiceReceived> {
    return new Map(Array.from(this.#heard, ([id, person]) => [id, person.stats]));
  }

  close(): void {
    for (const id of [...this.#heard.keys()]) this.#forget(id);
  }

  #personOf(id: number, now: number): Person | undefined {
    const known = this.#heard.get(id);
    if (known || !this.#playing) return known;
    if (this.#heard.size >= MOST) {
      // Many senders at once must not replace each other with each frame.
      const [quietest, { heardAt }] = this.#quietest();
      if (now - heardAt < HEARD_MS) return undefined;
      this.#forget(quietest);
    }
    const person = new Person({ ...this.#options, ...this.#playing, id });
    person.volume = this.#volumes.get(id) ?? 1;
    person.maxDelay = this.#maxDelay;
    this.#heard.set(id, person);
    return person;
  }

  /** The participant who was heard longest ago. */
  #quietest(): readonly [id: number, person: Person] {
    return [...this.#heard].reduce((one, other) => (other[1].heardAt < one[1].heardAt ? other : one));
  }

  #forget(id: number): void {
    this.#heard.get(id)?.close();
    this.#heard.delete(id);
    this.#options.secret?.forget(id);
  }
}
