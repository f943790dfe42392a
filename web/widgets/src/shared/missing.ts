/** The note about servers of a cluster that did not answer: their open rooms are not listed. */

import { h, say } from "./dom.js";

/** An element for the sentence, hidden as long as all servers answer. */
export function missingNote(): HTMLElement {
  const note = h("p", "lead missing");
  note.dataset.testid = "missing";
  note.setAttribute("role", "status");
  note.hidden = true;
  return note;
}

/** Says which servers did not answer; hides the element if all did. */
export function showMissing(note: HTMLElement, servers: readonly string[] = []): void {
  note.hidden = servers.length === 0;
  const names = new Intl.ListFormat("en").format(servers);
  const which = servers.length === 1 ? `The server ${names} did` : `The servers ${names} did`;
  say(note, `${which} not answer. Rooms that are open there may be missing.`);
}
