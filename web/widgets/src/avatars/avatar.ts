/** One person: a picture or initials, which can be pressed. */

import { initials, type Shown } from "../core/people.js";
import type { AvatarTexts } from "../core/texts.js";
import { h, made, say, set, setPart } from "../shared/dom.js";

export interface AvatarState {
  readonly isIdle: boolean;
  readonly isFollowed: boolean;
}

export class Avatar {
  readonly element = made("li", "item");
  readonly #face: HTMLElement;
  readonly #initials = made("span", "initials");
  readonly #name = h("span", "unseen");
  #picture: HTMLImageElement | undefined;
  #person: Shown | undefined;

  /** `isPlain`: it cannot be pressed. */
  constructor(isPlain: boolean, press: (person: Shown) => void) {
    this.#face = h(isPlain ? "span" : "button", "person", this.#initials, this.#name);
    if (!isPlain) {
      this.#face.setAttribute("type", "button");
      this.#face.addEventListener("click", () => this.#person && press(this.#person));
    }
    this.#initials.ariaHidden = "true";
    this.element.append(this.#face);
  }

  show(person: Shown, words: AvatarTexts, { isIdle, isFollowed }: AvatarState): void {
    const { color, isSelf, isAway, isAgent, user } = person;
    const name = isAgent ? words.agent(person.name) : person.name;
    this.#person = person;
    const known = user === undefined ? name : words.signedIn(name, user);
    const withState = isAway ? words.away : isIdle ? words.idle : (text: string): string => text;
    const shown = withState(isSelf ? words.you(name) : known);
    const isButton = this.#face.localName === "button";
    setPart(
      this.#face,
      "avatar",
      isSelf && "self",
      isAway && "away",
      isIdle && "idle",
      isFollowed && "followed",
      user !== undefined && "verified",
      isAgent && "agent",
    );
    say(this.#initials, initials(person.name));
    say(this.#name, isButton ? withState(words.follow(known)) : shown);
    set(this.#face, "title", shown);
    if (isButton) set(this.#face, "aria-pressed", String(isFollowed));
    if (this.#face.style.getPropertyValue("--_person") !== color) this.#face.style.setProperty("--_person", color);
    this.#showPicture(person.picture);
  }

  #showPicture(address: string | undefined): void {
    if (this.#picture?.getAttribute("src") === (address ?? null)) return;
    this.#picture?.remove();
    this.#picture = undefined;
    if (address === undefined) return;
    this.#picture = Object.assign(made("img", "picture"), { alt: "", src: address });
    // Without the picture the initials are seen.
    this.#picture.addEventListener("error", ({ target }) => (target as Element).remove());
    this.#face.append(this.#picture);
  }
}
