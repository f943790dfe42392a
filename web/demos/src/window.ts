/** The frame of a participant's window: name, state of the connection, and a line for sentences. */

import type { Room } from "groupwire/testing/page";
import { h, setText } from "./dom.js";
import type { Person } from "./people.js";

const STATES = { connecting: "connecting", connected: "connected", reconnecting: "reconnecting", closed: "closed" };

export interface WindowFrame {
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  readonly say: (text: string) => void;
}

export function makeWindow(person: Person, room: Room<Person>): WindowFrame {
  const state = h("span", { class: "state" });
  const said = h("p", { class: "said" });
  const body = h("div", { class: "body" });
  const element = h(
    "article",
    { class: "window", "aria-label": `${person.name}'s window` },
    h("div", { class: "bar" }, h("span", { class: "dot" }), h("strong", {}, person.name), state),
    body,
    said,
  );
  element.style.setProperty("--person", person.color);
  const show = (): void => {
    setText(state, STATES[room.status]);
    state.dataset.state = room.status;
  };
  room.on("status", show);
  show();
  return { element, body, say: (text) => setText(said, text) };
}
