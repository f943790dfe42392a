// Other ways to send the frames of voice over the same path, to compare with.

import { awareness, type Channel, type ChannelOptions, type Message, type Room } from "groupwire";

/** A channel that repeats nothing and requests nothing. */
const PLAIN: ChannelOptions = awareness({ overflow: "aggregate", loss: 1, deadline: 180 });

/**
 * The room with another channel for voice: `plain` sends each frame once, `red` with the frame
 * before it (RFC 2198). Without a name, or by another one, it is the room itself.
 */
export function sentAs<T>(room: Room<T>, name: string | null): Room<T> {
  if (name !== "plain" && name !== "red") return room;
  const channel = (called: string): Channel => room.channel(called, PLAIN);
  return replaced(room, { channel: name === "red" ? (called: string) => withCopies(channel(called)) : channel });
}

/** A channel whose messages carry the one before: its length (2 bytes), itself, the new one. */
function withCopies(channel: Channel): Channel {
  let before = new Uint8Array();
  return replaced(channel, {
    send: (message: Uint8Array) => {
      const bytes = new Uint8Array(2 + before.length + message.length);
      new DataView(bytes.buffer).setUint16(0, before.length);
      bytes.set(before, 2);
      bytes.set(message, 2 + before.length);
      before = new Uint8Array(message);
      return channel.send(bytes);
    },
    on: (event: "message", listener: (message: Message) => void) => {
      const seen = new Set<string>();
      return channel.on(event, (message) => {
        const data = message.data as Uint8Array;
        const length = (data[0] ?? 0) * 256 + (data[1] ?? 0);
        for (const one of [data.subarray(2, 2 + length), data.subarray(2 + length)]) {
          // Bytes 1 and 2 of a frame count.
          const key = `${message.sender} ${one[1]} ${one[2]}`;
          if (one.length === 0 || seen.has(key)) continue;
          seen.add(key);
          if (seen.size > 200) seen.delete(seen.values().next().value ?? "");
          listener(replaced(message, { data: one }));
        }
      });
    },
  });
}

/** The same object with other methods. */
function replaced<T extends object>(object: T, methods: Record<string, unknown>): T {
  return new Proxy(object, {
    get: (target, property) => {
      if (typeof property === "string" && property in methods) return methods[property];
      const value = Reflect.get(target, property, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
