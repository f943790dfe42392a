/** The application of this folder on @liveblocks/react. */

import { LiveblocksProvider, RoomProvider, useOthers, useRoom, useUpdateMyPresence } from "@liveblocks/react";
import { useEffect } from "react";
import { Page, show, type Point } from "./page.tsx";

function App() {
  const people = useOthers(
    (others) => others.map(({ connectionId, presence }) => ({ id: connectionId, name: presence.name as string })),
    same,
  );
  const update = useUpdateMyPresence();
  const room = useRoom();
  useEffect(
    () =>
      room.subscribe("others", (others) =>
        others.forEach(({ connectionId, presence }) => show(connectionId, presence.cursor as Point)),
      ),
    [room],
  );
  return <Page people={people} move={(cursor) => update({ cursor })} />;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export default (
  <LiveblocksProvider publicApiKey="pk_example">
    <RoomProvider id="demo" initialPresence={{ name: "Ada", cursor: null }}>
      <App />
    </RoomProvider>
  </LiveblocksProvider>
);
