/** Channels that widgets open. */

import { awareness, type Channel, type ChannelOptions, type Room } from "groupwire";

/**
 * The QoS of the cursors' channel: whoever opens a channel first decides, so all widgets open it
 * alike.
 */
export const CURSOR = awareness({ maxRate: 25, loss: 0.05, deadline: 250 });

/** A channel of a room. If the application has opened it with other options, these stay. */
export function channelOf(room: Room<any>, name: string, options: ChannelOptions): Channel {
  try {
    return room.channel(name);
  } catch {
    // The channel is not open yet.
    return room.channel(name, options);
  }
}
