/** The channels of a room by their names, with their types. */

import type { SendOptions, Sent } from "../api.js";
import { unknownName } from "../arguments.js";
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
  const channels = room.channels as Readonly<Record<string, unknown>>;
  const names = Object.keys(channels);
  if (!names.includes(name)) throw unknownName("a channel of `defineRoom`", name, names);
  const channel = channels[name];
  return channel as BoundChannel<InputOf<D, Name>, ValueOf<D, Name>>;
}

interface BoundChannel<Input, Value> {
  on(event: "message", listener: (message: TypedMessage<Value>) => void): () => void;
  send(value: Input, options?: SendOptions): Sent;
}
