/** Creates the parts of the page and connects them. */

import "../../common/styles/base.css";
import "../../common/styles/stage.css";
import "../../common/styles/controls.css";
import "../../common/styles/panel.css";
import "../../common/styles/transport.css";
import "../../common/styles/narrow.css";
import "./styles/board.css";
import "./styles/tools.css";
import "./styles/savings.css";
import "./styles/narrow.css";
import { readAddress, withRoom } from "../../common/address";
import { Board } from "./board";
import { expose } from "./hook";
import { Recorder } from "./net/recorder";
import { Session } from "./net/session";
import { button, part } from "../../common/ui/dom";
import { makeHelp } from "../../common/ui/help";
import { chosenCompress, CompressionChoice } from "./ui/compression";
import { Contracts } from "./ui/contracts";
import { Hint } from "./ui/hint";
import { listenToKeys } from "./ui/keys";
import { Panel } from "./ui/panel";
import { People, storedName } from "../../common/ui/people";
import { showPlace } from "../../common/ui/place";
import { toast } from "../../common/ui/toast";
import { isTransport, TransportChoice } from "../../common/ui/transport";
import { SHORTCUTS } from "./ui/shortcuts";
import { Toolbar } from "./ui/toolbar";
import { showVoice } from "./ui/voice";
import { onThemeChanged } from "../../common/view/theme";

const MARK = '<path d="M8 20c3-9 6-9 7-4s4 5 9-5"/>';

const address = readAddress(new URL(location.href));
history.replaceState(null, "", withRoom(new URL(location.href), address.room));

const wanted = new URL(location.href).searchParams.get("transport");
const pinned = isTransport(wanted) ? wanted : undefined;
const recorder = new URL(location.href).searchParams.has("record") ? new Recorder() : undefined;
const help = makeHelp({
  rows: SHORTCUTS,
  note: "On a touch screen: one finger draws, two fingers move and zoom.",
  elsewhere: { name: "The puzzle", href: "./puzzle/" },
});
// The board and the session may call back before these are created.
let toolbar: Toolbar | undefined;
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
  compress: chosenCompress(new URL(location.href)),
  document: board.document,
  live: board.live,
  recorder,
  events: {
    synced: () => {
      board.arrive();
      hint?.update(true);
    },
    participants: () => {
      board.requestFrame();
      showTalking();
    },
    talking: () => showTalking(),
    moved: () => board.requestFrame(),
    transport: () => transportChoice?.show(),
    error: ({ code, message, fault, fatal, channel }) => {
      // Each channel reports this error, so it is shown for one of them only.
      const isCompression = (code === "no-codecs" || code === "invalid-compress") && channel === "draw";
      // Only errors that the user can do something about are shown; the client recovers from others
      // by itself.
      if (fatal || fault === "limit" || fault === "refused" || isCompression) toast(message);
      else console.warn(message);
    },
  },
});
board.join(session);
showPlace({ app: "Whiteboard", mark: MARK, name: address.room, room: session.room, onHelp: help });
board.document.listen({
  restored: () => toast("The server restarted; the drawing was restored."),
  incomplete: () => toast("Some older changes are no longer on the server. This drawing may be incomplete."),
});

toolbar = new Toolbar(board);
new People(
  { room: session.room, rename: (name) => session.rename(name), visit: (id) => board.visit(id) },
  { share: "Copy the link to this board", shared: "Whoever opens it draws with you." },
);
hint = new Hint(board);
transportChoice = new TransportChoice(session.room, pinned);
new Panel({
  stats: () => session.room.stats,
  setting: () => session.compress,
  compression: new CompressionChoice(session),
  contracts: new Contracts(session.channels),
  transport: transportChoice.element,
});
const talk = button({
  icon: "talk",
  label: "We are talking: pointers keep up with what is said",
  key: "M",
  testid: "talk",
  onPress: toggleTalking,
});
part("people").prepend(talk);
showTalking();
listenToKeys(board, help, toggleTalking);
onThemeChanged(() => toolbar?.repaint());
if (recorder) {
  const save = () => recorder.download();
  part("place").append(button({ icon: "download", label: "Save the recording", testid: "recording", onPress: save }));
}
if (new URL(location.href).searchParams.has("voice")) void showVoice(session.room);
expose(board, session);

function toggleTalking(): void {
  session.toggleTalking();
  showTalking();
}

function showTalking(): void {
  talk.ariaPressed = String(session.isTalking);
  talk.classList.toggle("heard", session.isTalkHeard);
}
