/** A person of the conversation: who it is, whether it speaks, and its loudness for this user. */

import type { VoicePerson } from "groupwire/voice";
import type { Shown } from "../core/people.js";
import type { VoiceTexts } from "../core/texts.js";
import { h, made, say, set, setPart } from "../shared/dom.js";

export class Speaker {
  readonly #dot = made("span", "dot");
  readonly #name = made("span", "name");
  readonly #state = made("span", "state");
  readonly #volume = made("input", "volume");
  readonly element = made("li", "person", "", h("span", "who", this.#dot, this.#name, this.#state), this.#volume);

  constructor(changed: (volume: number) => void) {
    Object.assign(this.#volume, { type: "range", min: "0", max: "2", step: "0.05", value: "1" });
    this.#dot.ariaHidden = "true";
    this.#volume.addEventListener("input", () => changed(Number(this.#volume.value)));
  }

  show({ speaking, muted, volume }: VoicePerson, person: Shown | undefined, words: VoiceTexts): void {
    const name = person?.name ?? words.guest;
    setPart(this.element, "person", speaking && "speaking", muted && "muted");
    this.#dot.style.setProperty("--_person", person?.color ?? "gray");
    say(this.#name, name);
    say(this.#state, speaking ? words.speaking : muted ? words.isMuted : "");
    set(this.#volume, "aria-label", words.volumeOf(name));
    this.#volume.value = String(volume);
  }
}
