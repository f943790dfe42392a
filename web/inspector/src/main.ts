/**
 * The page around the inspector: `?room=NAME` selects the room, `#token=TOKEN` is the token of the administration listener.
 * Browsers do not send what follows `#`.
 */

import { Inspector } from "groupwire-widgets";

const address = new URL(location.href);
const inspector = new Inspector();
inspector.setAttribute("server", "../");
const token = new URLSearchParams(address.hash.slice(1)).get("token");
if (token) inspector.setAttribute("token", token);
const room = address.searchParams.get("room");
if (room) inspector.setAttribute("room", room);
inspector.addEventListener("room", () => {
  address.searchParams.set("room", inspector.room);
  history.replaceState(null, "", address);
});
document.body.append(inspector);
