/** Creates the parts of the page and connects them. */

import "../../common/styles/base.css";
import "../../common/styles/stage.css";
import "../../common/styles/controls.css";
import "../../common/styles/panel.css";
import "../../common/styles/transport.css";
import "../../common/styles/narrow.css";
import "./styles/puzzle.css";
import type { TransportName } from "groupwire";
import { readAddress, withRoom } from "../../common/address";
import { part } from "../../common/ui/dom";
import { makeHelp } from "../../common/ui/help";
import { People, storedName } from "../../common/ui/people";
import { showPlace } from "../../common/ui/place";
import { toast } from "../../common/ui/toast";
import { isTransport, TransportChoice } from "../../common/ui/transport";
import { expose } from "./hook";
import { Meter } from "./net/meter";
import { Session } from "./net/session";
import { Table } from "./table";
import { Bar } from "./ui/bar";
import { makeChooser } from "./ui/chooser";
import { listenToKeys, SHORTCUTS } from "./ui/keys";
import { Settings } from "./ui/settings";
import { type Contributor, Solved } from "./ui/solved";

const MARK =
  '<path class="solid" d="M9 12h4.2c-1.6-4 4.4-4 2.8 0H20v4c4-1.6 4 4.4 0 2.8V23H9v-4.2c3.6 1.4 3.6-4.2 0-2.8z"/>';

const address = readAddress(new URL(location.href));
history.replaceState(null, "", withRoom(new URL(location.href), address.room));
const named = new URL(location.href).searchParams.get("transport");
const pinned = isTransport(named) ? named : undefined;

const meter = new Meter();
const help = makeHelp({
  rows: SHORTCUTS,
  note: "Drag pieces to where they belong; drag the table to move the view. On a touch screen two fingers zoom.",
  elsewhere: { name: "The whiteboard", href: "../" },
});
// The table and the session may call back before these are created.
let bar: Bar | undefined;
let settings: Settings | undefined;

const table = new Table(part("stage"), address.room, {
  changed: () => {
    if (!bar) return;
    bar.update();
    if (!table.document.state.isSolved) solved.hide();
  },
  refused: (holder, isLost) => toast(refusal(holder, isLost)),
  solved: () => solved.show(table.document.state.spec, contributors()),
});
const openChooser = makeChooser({
  present: () => {
    const { state } = table.document;
    const others = session.room.participants.size;
    const isGivenUp = state.progress > 0 && !state.isSolved;
    const note = `${isGivenUp ? "The present one is given up" : "It takes the place of the present one"}${others > 0 ? `, for all ${others + 1} of you` : ""}.`;
    return { spec: state.spec, note };
  },
  start: (spec) => table.document.perform({ start: spec }),
});
const solved = new Solved(openChooser);

const session: Session = new Session({
  url: address.server,
  room: address.room,
  name: storedName(),
  transport: pinned,
  document: table.document,
  live: table.live,
  meter,
  events: {
    synced: () => table.arrive(),
    participants: () => table.requestFrame(),
    transport: () => settings?.show(),
    moved: () => table.requestFrame(),
    error: ({ message, fault, fatal }) => {
      // Only errors that the user can do something about are shown; the client recovers from others
      // by itself.
      if (fatal || fault === "limit" || fault === "refused") toast(message);
      else console.warn(message);
    },
  },
});
table.join(session);
showPlace({ app: "Puzzle", mark: MARK, name: address.room, room: session.room, onHelp: help });
table.document.listen({
  restored: () => toast("The server restarted; the puzzle was restored."),
  incomplete: () => toast("Some older moves are no longer on the server. This puzzle may be incomplete."),
});

bar = new Bar(table, openChooser);
new People(
  { room: session.room, rename: (name) => session.rename(name), visit: (id) => table.visit(id) },
  { share: "Copy the link to this puzzle", shared: "Whoever opens it puts it together with you." },
);
settings = new Settings({
  meter,
  stats: () => session.room.stats,
  transport: () => session.room.transport,
  choice: new TransportChoice(
    {
      get transport() {
        return session.room.transport;
      },
      setTransports: chooseTransports,
    },
    pinned,
  ),
});
listenToKeys(table, {
  help,
  preview: (isOpen) => bar?.togglePreview(isOpen),
  chooser: openChooser,
  settings: () => settings?.toggle(),
});
expose(table, session, meter);

/** Writes the choice into the address, so that it is kept and can be shared. */
function chooseTransports(names: readonly TransportName[] | undefined): void {
  const url = new URL(location.href);
  url.searchParams.delete("transport");
  for (const name of names ?? []) url.searchParams.set("transport", name);
  history.replaceState(null, "", url);
  session.room.setTransports(names);
}

function refusal(holder: string | undefined, isLost: boolean): string {
  if (holder === undefined) return "A new puzzle was started.";
  const id = session.participantOf(holder);
  const name = id === undefined ? "Somebody else" : table.nameOf(id);
  return isLost ? `${name} was first: the piece is theirs until they drop it.` : `${name} has this piece in hand.`;
}

/**
 * The participants who joined pieces, with their numbers, largest first. Those who have left are
 * counted together.
 */
function contributors(): Contributor[] {
  const found = new Map<number | undefined, number>();
  for (const [window, joins] of table.document.state.joins) {
    const id = session.participantOf(window);
    found.set(id, (found.get(id) ?? 0) + joins);
  }
  const nameOf = (id: number | undefined): string =>
    id === undefined ? "Others" : id === session.room.self?.id ? "You" : table.nameOf(id);
  return [...found].map(([id, joins]) => ({ id, joins, name: nameOf(id) })).sort((a, b) => b.joins - a.joins);
}
