/** A room whose server is killed and starts again: nobody loses anything. */

import { counter, list, shared } from "groupwire/shared";
import { z } from "zod/mini";
import { h } from "../dom.js";
import type { DemoWindow, Kind, Running } from "../kind.js";

const board = shared({ votes: counter(), notes: list(z.string()) });

/** How long the server is away, in simulated milliseconds: long enough to be seen. */
const AWAY_MS = 3000;

export const restart: Kind = {
  title: "The server restarts",
  hint: "Kill the server, and go on voting while it is away. When it is back, every vote counts, once.",
  counts: [2],
  settings: { durability: "local" },
  network: { delay: 20 },
  channels: { shared: { name: "Votes", asks: "each one reaches everybody once, in one order" } },
  actions: [{ label: "Kill the server for 3 seconds", run: (net) => net.restartServer({ downFor: AWAY_MS }) }],
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
  };
  data.subscribe(show);
  room.subscribe(({ status, pending }) => {
    const waits = pending ? ` ${room.pending} of your votes wait for the server.` : "";
    say(status === "connected" ? (pending ? "Saving…" : "") : `The server is away.${waits}`);
  });
  show();
  return {};
}
