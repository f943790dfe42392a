/**
 * The widgets that show the other participants: `<gw-avatars>`, which the page contains before it
 * is defined here, and `<gw-cursors>` above a stage with a camera, which also sends the own
 * pointer. Loaded once somebody else is in the room: see `company.ts`.
 */

import type { Room } from "groupwire";
import "groupwire-widgets/avatars";
import "groupwire-widgets/cursors";
import type { Cursors } from "groupwire-widgets/cursors";
import type { Camera } from "../view/camera";

export interface CursorsOptions {
  /**
   * Tells where the thing is that a participant is drawing or dragging: its pointer is shown there.
   */
  readonly held: (id: number) => readonly [number, number] | undefined;
  readonly hasTraces: boolean;
}

export function addCursors(
  stage: HTMLElement,
  camera: Camera,
  room: Room,
  { held, hasTraces }: CursorsOptions,
): Cursors {
  const cursors = document.createElement("gw-cursors");
  cursors.room = room;
  cursors.target = stage;
  cursors.held = held;
  cursors.setAttribute("channel", "pointer");
  cursors.toggleAttribute("traces", hasTraces);
  cursors.coords = {
    toElement: ([x = 0, y = 0]) => camera.toScreen({ x, y }),
    toPlace: (point) => {
      const { x, y } = camera.toBoard(point);
      return [Math.round(x), Math.round(y)];
    },
  };
  stage.append(cursors);
  return cursors;
}
