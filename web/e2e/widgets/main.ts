/**
 * A page with all widgets. The address has the server, a room, a name, and a user, and may ask for
 * the direction from right to left.
 */

import { connect } from "groupwire";
import { configure } from "groupwire-widgets";
import { defineRoom } from "groupwire/schema";
import { lock, shared } from "groupwire/shared";

const { searchParams } = new URL(location.href);
const [server = "", name = "", user = "", room = ""] = ["server", "name", "user", "room"].map(
  (key) => searchParams.get(key) ?? undefined,
);
if (searchParams.has("rtl")) document.documentElement.dir = "rtl";

const board = defineRoom({ shared: shared({ pen: lock() }) });
const joined = board.join(connect, server, room, { presence: { name, ...(user && { user }) } });
configure({ room: joined });

/** What the test reads. */
Object.assign(window, {
  seen: {
    get status() {
      return joined.room.status;
    },
    /** The number of other participants, of whom several may be one person. */
    get others() {
      return joined.room.participants.size;
    },
  },
});
