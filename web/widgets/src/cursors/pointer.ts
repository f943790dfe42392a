/** Tells where the own pointer is. */

import type { Place } from "groupwire/motion";
import type { Stops } from "../core/element.js";
import { listen } from "../core/listen.js";
import type { Point, Stage } from "../core/stage.js";

/** Calls `send` with each place of the pointer on the stage, and with null when it has left. */
export function sendPointer(stage: Stage, send: (place: Place | null) => void): Stops {
  let last: Point | undefined;
  const sendLast = (): void => {
    if (last) send(stage.toPlace(last));
  };
  const move = ({ clientX, clientY }: PointerEvent): void => {
    last = { x: clientX, y: clientY };
    sendLast();
  };
  const leave = (): void => {
    if (last) send(null);
    last = undefined;
  };
  const release = ({ pointerType }: PointerEvent): void => {
    // A finger that is lifted points at nothing.
    if (pointerType !== "mouse") leave();
  };
  const listeners = {
    pointermove: move,
    pointerdown: move,
    pointerleave: leave,
    pointerup: release,
    pointercancel: leave,
  };
  return [
    leave,
    listen(stage.element, listeners, { passive: true }),
    // The content moves beneath the pointer.
    ...stage.onMoved(sendLast),
  ];
}
