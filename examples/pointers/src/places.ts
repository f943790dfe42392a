/** Places on the stage: from pixels, and by keys. */

import type { Place } from "./room";

/** The stage has this many units in width and in height. */
export const UNITS = 1000;

/** Units by which an arrow key moves, alone and with Shift. */
const STEP = { small: 10, large: 50 };

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The place of a point of the window on the stage; null if the stage has no size. */
export function placeOf(x: number, y: number, stage: Pick<DOMRect, "left" | "top" | "width" | "height">): Place {
  if (stage.width <= 0 || stage.height <= 0) return null;
  return [within(((x - stage.left) / stage.width) * UNITS), within(((y - stage.top) / stage.height) * UNITS)];
}

/**
 * The place after a key, from the middle if the pointer is nowhere; undefined for keys that do not
 * move.
 */
export function stepped(place: Place, key: string, isLarge: boolean): Place | undefined {
  const direction = DIRECTIONS[key];
  if (!direction) return undefined;
  const [x, y] = place ?? [UNITS / 2, UNITS / 2];
  const step = isLarge ? STEP.large : STEP.small;
  return [within(x + direction[0] * step), within(y + direction[1] * step)];
}

function within(value: number): number {
  return Math.round(Math.min(Math.max(value, 0), UNITS));
}
