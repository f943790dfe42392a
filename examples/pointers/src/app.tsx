/** The page: who is here on top, the stage with everybody's pointer below. */

import { useState, type CSSProperties } from "react";
import { People } from "./people";
import { Stage } from "./stage";
import { useRoomStatus } from "./room";

export function App() {
  const [showsArrivals, setShowsArrivals] = useState(false);
  return (
    <>
      <header>
        <People />
        <label className="option">
          <input type="checkbox" checked={showsArrivals} onChange={(event) => setShowsArrivals(event.target.checked)} />
          Show messages as they arrive
        </label>
        <Status />
      </header>
      <Stage showsArrivals={showsArrivals} />
    </>
  );
}

function Status() {
  const { status, count, error } = useRoomStatus(({ status, count, error }) => ({ status, count, error }));
  const people = count === 1 ? "Only you are here" : `${count} people are here`;
  const texts = {
    connecting: "Connecting…",
    connected: people,
    reconnecting: "The connection is lost. Trying again…",
    closed: `Disconnected: ${error?.message ?? "load the page anew"}`,
  };
  return (
    <output className="status" data-status={status}>
      {texts[status]}
    </output>
  );
}

/** The style of what has somebody's colour. */
export function colored(color = "#475467"): CSSProperties {
  return { "--color": color } as CSSProperties;
}
