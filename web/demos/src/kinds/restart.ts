/** A room whose server is killed and starts again: nobody loses anything. */

import { counter, list, shared } from "groupwire/shared";
import { z } from "zod/mini";
import { h } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";

const board = shared({ votes: counter(), notes: list(z.string()) });

/** The server is away until the reader starts it: longer than anybody looks at a page. */
const AWAY_MS = 1e9;

export const restart: Kind = {
  title: "The server restarts",
  hint: "Kill the server, and go on voting while it is away. When it is back, every vote counts, once.",
  counts: [2],
  settings: { durability: "local" },
  network: { delay: 20 },
  channels: { shared: { name: "Votes", asks: "each one reaches everybody once, in one order" } },
  actions: [
    {
      label: "Kill the server",
      run: (net) => net.restartServer({ downFor: AWAY_MS }),
      undoLabel: "Start the server again",
      undo: (net) => net.restartServer(),
    },
  ],
  open,
};

function open({ person, room, body, say }: DemoWindow): Running {
  const data = board.open(room);
  const votes = h("output", { class: "votes", "aria-label": `Votes in ${person.name}'s window` });
  const button = h("button", { type: "button", class: "big" }, "Vote");
  let own = 0;
  button.addEventListener("click", () => {
    own += 1;
    data.batch(() => {
      data.votes.add(1);
      data.notes.push(`${person.name} ${own}`);
    });
  });
  const notes = h("ol", {
    class: "notes",
    role: "list",
    tabindex: 0,
    "aria-label": `Who voted, in ${person.name}'s window`,
  });
  body.append(h("div", { class: "row" }, votes, button), notes);
  const show = (): void => {
    votes.value = String(data.votes.value);
    notes.replaceChildren(...data.notes.value.map((note) => h("li", {}, note)));
    notes.scrollTop = notes.scrollHeight;
    say(stateOf(room.status === "connected", data.pending));
  };
  data.subscribe(show);
  room.on("status", show);
  show();
  return {};
}

/** The state of the connection and of one's own votes, in words. */
function stateOf(isConnected: boolean, waiting: number): string {
  if (isConnected) return waiting > 0 ? "Saving…" : "";
  if (waiting === 0) return "The server is away.";
  return `The server is away. ${waiting === 1 ? "1 of your votes waits" : `${waiting} of your votes wait`} for it.`;
}
