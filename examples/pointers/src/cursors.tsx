/**
 * The pointers of the others, drawn in animation frames. React renders when somebody comes or goes,
 * not when somebody moves.
 */

import { follow, type FollowedView } from "groupwire/motion";
import { useEffect, useEffectEvent, useLayoutEffect, useRef, type Ref } from "react";
import { colored } from "./app";
import { UNITS } from "./places";
import { Place, useOther, useOtherIds, usePositions, useRoom } from "./room";

/**
 * The pointers, moved smoothly along a curve through the received places: `follow` hides jitter and
 * losses of the network.
 */
export function Cursors() {
  const ids = useOtherIds();
  const elements = useElements();
  const draw = (views: readonly FollowedView[]): void => {
    const places = new Map(views.map(({ sender, place, isGone }) => [sender, isGone ? null : place]));
    elements.each((element, id) => put(element, places.get(id)));
  };
  const views = useFollowed(draw);
  // A participant's place may be known before React has made its arrow.
  useLayoutEffect(() => draw(views()), [ids]);
  return ids.map((id) => <Cursor key={id} id={id} keep={elements.keep(id)} />);
}

/** The newest received place of each participant: a dot that jumps as the network does. */
export function Arrivals() {
  const ids = useOtherIds();
  const elements = useElements();
  usePositions("pointer", (positions) => elements.each((element, id) => put(element, positions.get(id))));
  return ids.map((id) => <i key={id} className="arrival" ref={elements.keep(id)} hidden aria-hidden />);
}

/**
 * Calls `draw` in each frame in which a pointer moves. Returns a function that returns the views to
 * show now.
 */
function useFollowed(draw: (views: readonly FollowedView[]) => void): () => readonly FollowedView[] {
  const room = useRoom()?.room;
  const followed = useRef<ReturnType<typeof follow>>(undefined);
  const drawLatest = useEffectEvent(draw);
  useEffect(() => {
    if (!room) return;
    followed.current = follow(room, room.channel("pointer"), {
      // Other programs wrote the message: `parse` throws if it is not a place, and the message is
      // ignored.
      read: (message) => Place.parse(message.json()),
      draw: (views) => drawLatest(views),
    });
    return () => followed.current?.stop();
  }, [room]);
  return () => followed.current?.views() ?? [];
}

function Cursor({ id, keep }: { readonly id: number; readonly keep: Ref<HTMLDivElement> }) {
  const person = useOther(id, ({ presence }) => presence);
  return <Arrow ref={keep} name={person?.name} color={person?.color} />;
}

interface ArrowProps {
  readonly ref: Ref<HTMLDivElement>;
  readonly name: string | undefined;
  readonly color: string | undefined;
}

/** An arrow with a name. It is hidden until {@link put} gives it a place. */
export function Arrow({ ref, name, color }: ArrowProps) {
  return (
    <div className="cursor" ref={ref} hidden aria-hidden style={colored(color)}>
      <svg width="20" height="22" viewBox="0 0 20 22">
        <path d="M1.5 1.5 18 9.5l-7.2 2.2L7 19.5Z" />
      </svg>
      <span>{name}</span>
    </div>
  );
}

/**
 * Shows an element at a place of the stage, whatever the stage's size; hides it without a place.
 */
export function put(element: HTMLElement, place: readonly number[] | null | undefined): void {
  element.hidden = !place;
  const [x = 0, y = 0] = place ?? [];
  if (place) element.style.translate = `${(x * 100) / UNITS}cqw ${(y * 100) / UNITS}cqh`;
}

/** The elements of the participants, by their ids. */
function useElements() {
  const elements = useRef(new Map<number, HTMLElement>());
  return {
    keep: (id: number) => (element: HTMLElement | null) => {
      if (element) elements.current.set(id, element);
      else elements.current.delete(id);
    },
    each: (what: (element: HTMLElement, id: number) => void) => elements.current.forEach(what),
  };
}
