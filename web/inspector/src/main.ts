/**
 * The page around the inspector: `?room=NAME` selects the room, and the token follows `#`, which browsers do not send.
 */

import { Inspector } from "groupwire-widgets";

const address = new URL(location.href);
const inspector = new Inspector();
inspector.setAttribute("server", "../");
const token = decodeURIComponent(address.hash.slice(1));
if (token !== "") inspector.setAttribute("token", token);
const room = address.searchParams.get("room");
if (room) inspector.setAttribute("room", room);
inspector.addEventListener("room", () => {
  address.searchParams.set("room", inspector.room);
  history.replaceState(null, "", address);
});
document.body.append(inspector);
