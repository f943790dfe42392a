/** Puts the parts of the page together. */

import "./styles/base.css";
import "./styles/board.css";
import "./styles/controls.css";
import "./styles/panel.css";
import "./styles/transport.css";
import "./styles/narrow.css";
import { readAddress, withRoom } from "./address";
import { Board } from "./board";
import { expose } from "./hook";
import { Recorder } from "./net/recorder";
import type { RestoredBy } from "./net/restore";
import { Session } from "./net/session";
import { button, part } from "./ui/dom";
import { makeHelp } from "./ui/help";
import { Hint } from "./ui/hint";
import { listenToKeys } from "./ui/keys";
import { Panel } from "./ui/panel";
import { People, storedName } from "./ui/people";
import { Place } from "./ui/place";
import { toast } from "./ui/toast";
import { isTransport, TransportChoice } from "./ui/transport";
import { Toolbar } from "./ui/toolbar";
import { onThemeChanged } from "./view/theme";

const RESTORED: Readonly<Record<RestoredBy, string | undefined>> = {
  this: "The server restarted; the drawing was restored from this window.",
  another: "The server restarted; the drawing was restored from another window.",
  nobody: undefined,
};

const address = readAddress(new URL(location.href));
history.replaceState(null, "", withRoom(new URL(location.href), address.room));

const wanted = new URL(location.href).searchParams.get("transport");
const pinned = isTransport(wanted) ? wanted : undefined;
const recorder = address.record ? new Recorder() : undefined;
const help = makeHelp();
const place = new Place(address.room, help);
// These look at the board and the session, which may speak up before they are there.
let toolbar: Toolbar | undefined;
let people: People | undefined;
let hint: Hint | undefined;
let transportChoice: TransportChoice | undefined;

const board = new Board(part("stage"), () => {
  toolbar?.update();
  hint?.update(session.isSynced);
  transportChoice?.show();
});
const session = new Session({
  url: address.server,
  room: address.room,
  presence: { name: storedName() },
  transport: pinned,
  document: board.document,
  live: board.live,
  pointers: board.pointers,
  recorder,
  events: {
    status: () => {
      update();
      people?.update();
    },
    synced: () => board.arrive(),
    participants: () => {
      people?.update();
      board.participantsChanged();
    },
    moved: () => board.requestFrame(),
    transport: () => transportChoice?.show(),
    restored: (by) => {
      const text = RESTORED[by];
      if (text) toast(text);
    },
    incomplete: () => toast("Some older changes are no longer on the server. This drawing may be incomplete."),
    error: ({ message, fault, fatal }) => {
      // What a person here can do something about. From the rest the client recovers by itself.
      if (fatal || fault === "limit" || fault === "refused") toast(message);
      else console.warn(message);
    },
  },
});
board.session = session;

toolbar = new Toolbar(board);
people = new People(board, session);
hint = new Hint(board);
transportChoice = new TransportChoice(session, pinned);
new Panel(() => session.stats, transportChoice.element);
listenToKeys(board, help);
onThemeChanged(() => toolbar?.repaint());
if (recorder) {
  const save = () => recorder.download();
  part("place").append(button({ icon: "download", label: "Save the recording", testid: "recording", onPress: save }));
}
expose(board, session);
setInterval(update, 500);
update();

function update(): void {
  place.update(session.status, board.document.waiting);
  hint?.update(session.isSynced);
}
