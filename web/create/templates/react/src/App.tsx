/** The page: who is here, the tasks, and whether all is saved. */

import { useOther, useOtherIds, usePresence, useRoom, useRoomStatus } from "groupwire-react";
import { useEffect, useRef, type CSSProperties } from "react";
import { showCursors } from "./cursors";
import { me, name as roomName, rename } from "./place";
import { statusText } from "./status";
import { Tasks } from "./Tasks";

export function App() {
  const area = useRef<HTMLDivElement>(null);
  const room = useRoom();
  // Pointers move without rendering anything.
  useEffect(() => (room && area.current ? showCursors(room, area.current) : undefined), [room]);
  return (
    <div className="board" ref={area}>
      <main className="panel">
        <h1>Room {roomName}</h1>
        <Name />
        <People />
        <Tasks />
        <Status />
      </main>
    </div>
  );
}

function Name() {
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
