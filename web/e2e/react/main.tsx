/**
 * A page with cursors, avatars and a counter, on groupwire-react. The address has the server and a
 * name.
 */

import { awareness } from "groupwire";
import { hooksOf } from "groupwire-react";
import { defineRoom } from "groupwire/schema";
import { counter, shared } from "groupwire/shared";
import { Profiler, StrictMode, useRef, type CSSProperties } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

const board = defineRoom({
  presence: z.object({ name: z.string(), color: z.string() }),
  channels: {
    cursor: { ...awareness({ maxRate: 25 }), schema: z.object({ x: z.number(), y: z.number() }).nullable() },
  },
  shared: shared({ likes: counter() }),
});
const { RoomProvider, useMutation, useOther, useOtherIds, usePositions, useRoomStatus, useShared } = hooksOf(board);

const { searchParams } = new URL(location.href);
const [server, name, color] = ["server", "name", "color"].map((key) => searchParams.get(key) ?? "");

/** What the test reads: how often something was rendered, and drawn. */
const seen = ((window as unknown as { seen: object }).seen = { renders: 0, draws: 0, status: "" });

function App() {
  seen.status = useRoomStatus(({ status }) => status);
  const likes = useShared((data) => data.likes.value);
  const like = useMutation((data) => data.likes.add(1), []);
  const cursors = useRef(new Map<number, HTMLElement>());
  const ids = useOtherIds();
  const move = usePositions("cursor", (positions) => {
    seen.draws += 1;
    for (const [id, element] of cursors.current) {
      const at = positions.get(id);
      element.hidden = !at;
      if (at) element.style.translate = `${at.x}px ${at.y}px`;
    }
  });
  const keep = (id: number) => (element: HTMLElement | null) => {
    if (element) cursors.current.set(id, element);
    else cursors.current.delete(id);
  };
  return (
    <main onPointerMove={({ clientX: x, clientY: y }) => move({ x, y })} onPointerLeave={() => move(null)}>
      <h1>{name}</h1>
      <ul aria-label="Others">
        {ids.map((id) => (
          <Avatar key={id} id={id} />
        ))}
      </ul>
      <button onClick={() => like()}>{likes} likes</button>
      {ids.map((id) => (
        <Cursor key={id} id={id} keep={keep(id)} />
      ))}
    </main>
  );
}

const colored = (color = "gray"): CSSProperties => ({ "--color": color }) as CSSProperties;

function Avatar({ id }: { readonly id: number }) {
  const presence = useOther(id, ({ presence }) => presence);
  return <li style={colored(presence?.color)}>{presence?.name}</li>;
}

function Cursor({ id, keep }: { readonly id: number; readonly keep: (element: HTMLElement | null) => void }) {
  const presence = useOther(id, ({ presence }) => presence);
  return (
    <div className="cursor" ref={keep} hidden aria-hidden style={colored(presence?.color)}>
      {presence?.name}
    </div>
  );
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <RoomProvider room={board} url={server} name="cursors" presence={{ name, color }}>
      <Profiler id="app" onRender={() => (seen.renders += 1)}>
        <App />
      </Profiler>
    </RoomProvider>
  </StrictMode>,
);
