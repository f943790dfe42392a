/** The stage on which everybody points, with a mouse, a finger or the arrow keys. */

import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import { Arrivals, Arrow, Cursors, put } from "./cursors";
import { placeOf, stepped } from "./places";
import { useChannel, usePresence, useRoom, type Place } from "./room";

export function Stage({ showsArrivals }: { readonly showsArrivals: boolean }) {
  const [me] = usePresence();
  const send = useChannel("pointer");
  const room = useRoom();
  const own = useRef<HTMLDivElement>(null);
  const at = useRef<Place>(null);

  /** Own arrows are shown only while keys move them: otherwise there is the mouse. */
  const move = (place: Place, isByKey = false): void => {
    at.current = place;
    if (own.current) put(own.current, isByKey ? place : null);
    // On a room that is closed nothing can be sent.
    if (room?.room.status !== "closed") send(place);
  };
  const point = ({ currentTarget, clientX, clientY }: PointerEvent): void =>
    move(placeOf(clientX, clientY, currentTarget.getBoundingClientRect()));
  const press = (event: KeyboardEvent): void => {
    const place = stepped(at.current, event.key, event.shiftKey);
    if (!place) return;
    event.preventDefault();
    move(place, true);
  };

  return (
    <main
      className="stage"
      tabIndex={0}
      aria-label="Stage. Move your pointer with the mouse, a finger or the arrow keys."
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => move(null)}
      onKeyDown={press}
      onBlur={() => move(null)}
    >
      <div className="hint">
        <h1>Point at something</h1>
        <p>
          Everybody who has this page open sees your pointer. Open it in a second window, or send its address to a
          friend.
        </p>
      </div>
      <Cursors />
      {showsArrivals && <Arrivals />}
      <Arrow ref={own} name={me?.name} color={me?.color} />
    </main>
  );
}
