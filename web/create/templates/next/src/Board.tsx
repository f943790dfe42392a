"use client";

/** A room: who is here, the tasks, and whether all is saved. */

import { RoomProvider, useOther, useOtherIds, usePresence, useRoom, useRoomStatus } from "groupwire-react";
import { useEffect, useRef, type CSSProperties } from "react";
import { showCursors } from "./cursors";
import { rename, url, useMe, type Person as Me } from "./place";
import { board } from "./room";
import { statusText } from "./status";
import { Tasks } from "./Tasks";

// The hooks of groupwire-react have the types of this room.
declare module "groupwire-react" {
  interface Register {
    room: typeof board;
  }
}

export function Board({ name }: { readonly name: string }) {
  const me = useMe();
  return (
    <RoomProvider room={board} url={url} name={name} presence={me}>
      <Page name={name} me={me} />
    </RoomProvider>
  );
}

function Page({ name, me }: { readonly name: string; readonly me: Me }) {
  const area = useRef<HTMLDivElement>(null);
  const room = useRoom();
  // Pointers move without rendering anything.
  useEffect(() => (room && area.current ? showCursors(room, area.current) : undefined), [room]);
  return (
    <div className="board" ref={area}>
      <main className="panel">
        <h1>Room {name}</h1>
        <Name me={me} />
        <People />
        <Tasks />
        <Status />
      </main>
    </div>
  );
}

function Name({ me }: { readonly me: Me }) {
  const [presence = me, setPresence] = usePresence();
  const change = (name: string) => {
    rename(name);
    setPresence({ ...presence, name });
  };
  return (
    <label className="name">
      Your name <input value={presence.name} maxLength={30} onChange={({ target }) => change(target.value)} />
    </label>
  );
}

function People() {
  const ids = useOtherIds();
  return (
    <ul className="people" aria-label="Who is here">
      {ids.map((id) => (
        <Person key={id} id={id} />
      ))}
    </ul>
  );
}

function Person({ id }: { readonly id: number }) {
  const other = useOther(id, ({ presence, away }) => ({ ...presence, away }));
  if (!other || other.away) return null;
  return <li style={{ "--color": other.color } as CSSProperties}>{other.name}</li>;
}

function Status() {
  const text = useRoomStatus(statusText);
  return (
    <p className="status" role="status">
      {text}
    </p>
  );
}
