/**
 * The newest value of each participant on an awareness channel, drawn in animation frames: cursors,
 * without rendering for each message.
 */

import { Frames } from "../motion/frames.js";
import type { ChannelsOf, RoomDefinition, TypedRoom } from "../schema/define.js";
import { channelOf, type ValueOf } from "./channels.js";

/** The newest value of each participant who is here. */
export type Positions<Value> = ReadonlyMap<number, Value>;

/**
 * Calls `draw` in an animation frame whenever a participant has moved, came or went, with the
 * newest values of present participants. Participants that left or are away are left out; one that
 * returns has its last value again. Returns a function that ends it.
 */
export function followPositions<D extends RoomDefinition, Name extends keyof ChannelsOf<D> & string>(
  room: TypedRoom<D>,
  name: Name,
  draw: (positions: Positions<ValueOf<D, Name>>) => void,
): () => void {
  const positions = new Map<number, ValueOf<D, Name>>();
  const isHere = (id: number): boolean => room.participants.get(id)?.away === false;
  const frames = new Frames(() => {
    draw(new Map([...positions].filter(([id]) => isHere(id))));
    return false;
  });
  const drawSoon = (): void => frames.request();
  const keep = (isKept: (id: number) => boolean): void => {
    for (const id of positions.keys()) if (!isKept(id)) positions.delete(id);
    drawSoon();
  };
  const stops = [
    channelOf(room, name).on("message", ({ sender, value, own, stale }) => {
      if (own || stale) return;
      positions.set(sender, value as ValueOf<D, Name>);
      drawSoon();
    }),
    room.room.on("participants", () => keep((id) => room.participants.has(id))),
    // After these gaps the ids may belong to other participants.
    room.room.on("gap", ({ reason }) => reason !== "history" && reason !== "reset" && keep(() => false)),
  ];
  // The first frame removes the positions of a previous room.
  drawSoon();
  return () => {
    for (const stop of stops) stop();
    frames.stop();
  };
}
