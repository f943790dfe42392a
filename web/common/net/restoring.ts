/**
 * Tells an application when its shared data is restored or lost, after the server has lost the
 * room.
 */

import type { SharedControls } from "groupwire/shared";

export interface RestoringListener {
  /** This window does not have all of the data. */
  incomplete?(): void;
  /** The server had lost the room, and the room has the data again. */
  restored?(): void;
}

export function watchRestoring(data: SharedControls, listeners: readonly RestoringListener[]): void {
  let wasRestoring = false;
  const look = (): void => {
    if (wasRestoring && !data.isRestoring) for (const listener of listeners) listener.restored?.();
    wasRestoring = data.isRestoring;
  };
  data.subscribe(look);
  data.onLost(() => {
    for (const listener of listeners) listener.incomplete?.();
  });
}
