/** Random actions of users on a board. */

import { pick } from "../../common/random";
import type { Change, Document } from "../src/model/document";
import type { Box, Patch } from "../src/model/shapes";

const box: Box = { kind: "rectangle", x: 0, y: 0, w: 10, h: 10, z: 1, color: "ink", width: 2, fill: false };

/** Performs a random action that a user could do. */
export function act(replica: Document, random: () => number): void {
  const ids = [...replica.shapes.keys()];
  const id = ids[Math.floor(random() * ids.length)];
  const dice = random();
  if (id === undefined || dice < 0.35) replica.perform({ add: [[newId(random), { ...box, z: replica.nextZ() }]] });
  else if (dice < 0.65) replica.perform({ set: [[id, patch(random)]] });
  else if (dice < 0.8) replica.perform(both(id, ids, random));
  else if (dice < 0.92) replica.undo();
  else replica.redo();
}

function both(id: string, ids: string[], random: () => number): Change {
  return { set: [[pick(ids, random), patch(random)]], del: [id] };
}

function patch(random: () => number): Patch {
  const x = Math.floor(random() * 100);
  return random() < 0.5 ? { x, y: x } : { color: random() < 0.5 ? "red" : "blue", w: x };
}

function newId(random: () => number): string {
  return random().toString(36).slice(2, 10);
}

export function sorted(replica: Document): [string, unknown][] {
  return [...replica.shapes].sort(([a], [b]) => (a < b ? -1 : 1));
}
