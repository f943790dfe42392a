/** Providers in simulated rooms. */

import { expect } from "vitest";
import { simulate, type JoinOptions, type Room, type Simulation, type SimulationOptions } from "groupwire/testing";
import * as Y from "yjs";
import { GroupwireProvider, type ProviderOptions } from "../src/index.js";

export interface Program {
  readonly room: Room;
  readonly doc: Y.Doc;
  readonly text: Y.Text;
  readonly provider: GroupwireProvider;
}

export function start(options: SimulationOptions = {}): Simulation {
  return simulate({ seed: 1, ...options });
}

/** A participant with a document. Errors of the room that a test provokes are not printed. */
export function program(
  net: Simulation,
  join: JoinOptions = {},
  options: ProviderOptions = {},
  doc = new Y.Doc(),
): Program {
  const room = net.join(join);
  room.on("error", () => {});
  return { room, doc, text: doc.getText("text"), provider: new GroupwireProvider(room, doc, options) };
}

/** All have the same content. */
export function expectSame(programs: readonly Program[]): void {
  const [first, ...others] = programs.map(({ doc }) => doc);
  if (!first) return;
  for (const doc of others) {
    expect(content(doc)).toEqual(content(first));
    expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(first));
  }
}

export function content(doc: Y.Doc): unknown {
  return { text: doc.getText("text").toDelta(), map: doc.getMap("map").toJSON(), list: doc.getArray("list").toJSON() };
}

/** Frees timers. */
export function end(net: Simulation, programs: readonly Program[]): void {
  for (const { doc } of programs) doc.destroy();
  net.end();
}
