/** The chat of one room. */

import type { Connect } from "groupwire/schema";
import { useEffect, type ReactNode } from "react";
import { Composer } from "./composer";
import { Messages } from "./messages";
import { People } from "./people";
import { RoomProvider, useRoomStatus, type Person, chat } from "./room";

interface AppProps {
  readonly server: string;
  readonly room: string;
  readonly person: Person;
  /** Keeps another name of this person. */
  readonly onRename?: (name: string) => void;
  /** The function that connects; in tests that of a simulation. */
  readonly connect?: Connect;
}

export function App({ server, room, person, onRename = () => {}, connect }: AppProps): ReactNode {
  return (
    <RoomProvider room={chat} url={server} name={room} presence={person} {...(connect && { connect })}>
      <main>
        <People onRename={onRename} />
        <Connection />
        <Messages />
        <Composer />
      </main>
    </RoomProvider>
  );
}

const CONNECTION = {
  connecting: "Connecting…",
  connected: "",
  reconnecting: "The connection is lost. What you write is sent when it is back.",
  closed: "The connection is closed. Load the page anew.",
};

function Connection(): ReactNode {
  const { status, error } = useRoomStatus(({ status, error }) => ({ status, error }));
  useEffect(() => {
    document.documentElement.dataset.status = status;
  }, [status]);
  return (
    <p className="connection" role="status">
      {error?.message ?? CONNECTION[status]}
    </p>
  );
}
