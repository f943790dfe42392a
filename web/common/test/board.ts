/** The room in which the bindings for user interface frameworks are tested. */

import { awareness, transaction, type Room } from "groupwire";
import { defineRoom, type TypedRoom } from "groupwire/schema";
import { counter, list, lock, map, shared } from "groupwire/shared";
import { simulate, type Simulation, type SimulationOptions } from "groupwire/testing";
import { afterEach } from "vitest";
import { z } from "zod";

export const board = defineRoom({
  presence: z.object({ name: z.string(), user: z.string().optional() }),
  channels: {
    chat: { ...transaction(), schema: z.object({ text: z.string() }) },
    cursor: { ...awareness({ maxRate: 25 }), schema: z.object({ x: z.number(), y: z.number() }) },
  },
  shared: shared({
    shapes: map(z.object({ x: z.number(), color: z.string().optional() })),
    tasks: list(z.string()),
    likes: counter(),
    pen: lock(),
  }),
});

export type Definition = typeof board extends { join(...all: never[]): TypedRoom<infer D> } ? D : never;
export type BoardRoom = TypedRoom<Definition>;

/** What ends with the test that started it. */
export const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

/** A simulation, with timers of the page in simulated time. */
export function start(options: SimulationOptions = {}): Simulation {
  const net = simulate({ fakeTimers: true, ...options });
  ends.push(() => net.end());
  return net;
}

/** Another participant, whose page has no hooks. */
export function join(net: Simulation, name: string, user?: string): BoardRoom {
  return board.join(net.connect, "http://test", "demo", { presence: { name, ...(user && { user }) } });
}

/** Keeps what `connect` has made. */
export function counted(net: Simulation): { readonly connect: typeof net.connect; readonly rooms: Room[] } {
  const rooms: Room[] = [];
  const connect = ((...all: Parameters<typeof net.connect>) => {
    const room = net.connect(...all);
    rooms.push(room as Room);
    return room;
  }) as typeof net.connect;
  return { connect, rooms };
}
