/** The channels of a room by their names, with their types. */

import type { SendOptions, Sent } from "../api.js";
import { failure } from "../errors.js";
import type { ChannelsOf, RoomDefinition, TypedMessage, TypedRoom } from "../schema/define.js";

/** The type of received values of a channel. */
export type ValueOf<D extends RoomDefinition, Name extends keyof ChannelsOf<D>> = ChannelsOf<D>[Name] extends {
  on(event: "message", listener: (message: TypedMessage<infer Value>) => void): unknown;
}
  ? Value
  : unknown;

/** The type of values to send on a channel. */
export type InputOf<D extends RoomDefinition, Name extends keyof ChannelsOf<D>> = ChannelsOf<D>[Name] extends {
  send(value: infer Value, options?: SendOptions): unknown;
}
  ? Value
  : unknown;

/** A channel of a room. Throws if the room has no channel of this name. */
export function channelOf<D extends RoomDefinition, Name extends keyof ChannelsOf<D> & string>(
  room: TypedRoom<D>,
  name: Name,
): BoundChannel<InputOf<D, Name>, ValueOf<D, Name>> {
  const channel = (room.channels as Record<string, unknown>)[name];
  if (!channel) throw failure("not-open", "own", `the room has no channel "${name}": name it in defineRoom`);
  return channel as BoundChannel<InputOf<D, Name>, ValueOf<D, Name>>;
}

interface BoundChannel<Input, Value> {
  on(event: "message", listener: (message: TypedMessage<Value>) => void): () => void;
  send(value: Input, options?: SendOptions): Sent;
}
