/**
 * A room without a connection, for rendering on a server and in a page before its first effects
 * have run.
 */

import type { Channel, Room, RoomState } from "../api.js";
import { failure } from "../errors.js";

/** Stands for `connect` until there is a connection. */
export function dormant(_url: string | URL, name: string): Room {
  const state: RoomState = {
    name,
    status: "connecting",
    problem: undefined,
    self: undefined,
    participants: new Map(),
    complete: true,
    count: 1,
    durability: undefined,
    transport: undefined,
    pending: false,
  };
  const nothing = (): void => {};
  const never = (): (() => void) => nothing;
  const refuse = (): never => {
    throw failure("not-connected", "own", `the room "${name}" is not connected yet: do this in an effect or an event`);
  };
  const traffic = { messages: 0, packets: 0, bytesBefore: 0, bytesAfter: 0, bytesPayload: 0 };
  const channel = (channel: string): Channel => ({
    name: channel,
    qos: { kind: "transaction" },
    compress: "off",
    contract: undefined,
    setQos: refuse,
    limitRate: refuse,
    send: refuse,
    sendTo: refuse,
    on: never,
    once: never,
    off: nothing,
    close: () => Promise.resolve(),
  });
  return {
    ...state,
    state,
    subscribe: never,
    stats: {
      transport: "none",
      sent: traffic,
      received: traffic,
      roundTrip: undefined,
      reconnects: 0,
      channels: new Map(),
    },
    pending: 0,
    channel,
    on: never,
    once: never,
    off: nothing,
    askForPage: refuse,
    setTransports: refuse,
    setToken: refuse,
    setPresence: refuse,
    provideSnapshot: nothing,
    leave: nothing,
    close: nothing,
    disconnect: nothing,
    destroy: nothing,
  };
}
