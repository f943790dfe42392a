/** Computes what a document has and a room lacks. */

import * as Y from "yjs";

const EMPTY = new Uint8Array([0, 0]);

/** Ranges of deleted clocks, by client. */
type Deleted = ReadonlyMap<number, readonly { readonly clock: number; readonly len: number }[]>;

/** An update with what the document has beyond these updates; undefined if there is nothing. */
export function difference(doc: Y.Doc, updates: readonly Uint8Array[]): Uint8Array | undefined {
  const known = updates.length > 0 ? Y.mergeUpdates([...updates]) : EMPTY;
  const missing = Y.encodeStateAsUpdate(doc, Y.encodeStateVectorFromUpdate(known));
  const { structs, ds } = Y.decodeUpdate(missing);
  if (structs.length === 0 && covers(Y.decodeUpdate(known).ds.clients, ds.clients)) return undefined;
  return missing;
}

/** A state vector that says no more than any of these. */
export function smallest(stateVectors: readonly Uint8Array[]): Uint8Array | undefined {
  const [first, ...others] = stateVectors.map(decode);
  if (!first) return undefined;
  const least = new Map<number, number>();
  for (const [client, clock] of first)
    least.set(client, Math.min(clock, ...others.map((other) => other.get(client) ?? 0)));
  return Y.encodeStateVector(least);
}

/** True if the document has had no content. */
export function isEmpty(doc: Y.Doc): boolean {
  const { clients, pendingStructs, pendingDs } = doc.store;
  return clients.size === 0 && pendingStructs === null && pendingDs === null;
}

/** True if all clocks of `inner` are in `outer`. */
function covers(outer: Deleted, inner: Deleted): boolean {
  for (const [client, ranges] of inner) {
    const known = [...(outer.get(client) ?? [])].sort((a, b) => a.clock - b.clock);
    const wanted = [...ranges].sort((a, b) => a.clock - b.clock);
    let at = 0;
    let [begin, end] = [0, 0];
    for (const { clock, len } of wanted) {
      // Joins known ranges that touch, until one ends behind the wanted one.
      for (let next = known[at]; next && end < clock + len; next = known[(at += 1)]) {
        if (next.clock > end) begin = next.clock;
        end = Math.max(end, next.clock + next.len);
      }
      if (clock < begin || clock + len > end) return false;
    }
  }
  return true;
}

/** A malformed state vector counts as empty. */
function decode(stateVector: Uint8Array): Map<number, number> {
  try {
    return Y.decodeStateVector(stateVector);
  } catch {
    return new Map();
  }
}
