/** A part of a source as a hook: renders only if the part has changed. */

import { Selection, shallow, type Change, type IsEqual, type Select, type Source } from "groupwire/store";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";

export function useSelected<Root, Value>(
  source: Source<Root>,
  select: Select<Root, Value>,
  isEqual: IsEqual<Value> = shallow,
): Value {
  // The value that is shown: an equal value of a new selector does not replace it.
  const shown = useRef<{ readonly value: Value }>(undefined);
  const selection = useMemo(() => new Selection(source, select, isEqual, shown.current), [source, select, isEqual]);
  const [watched] = useState(() => new Watched());
  const subscribe = useMemo(
    () => (listener: () => void) => source.subscribe((change) => void (watched.concern(change) && listener())),
    [source, watched],
  );
  const value = useSyncExternalStore(subscribe, selection.get, selection.first);
  watched.rendered(selection);
  useEffect(() => {
    shown.current = { value };
    watched.shown(selection);
  });
  return value;
}

type Reading = Pick<Selection<unknown, unknown>, "reads">;

/**
 * The selections of one component whose reads count. A component often passes a new selector in
 * each rendering, and React may discard a rendering: then the selection that is shown still counts.
 */
class Watched {
  #selections: readonly Reading[] = [];

  rendered(selection: Reading): void {
    if (this.#selections.at(-1) !== selection) this.#selections = [...this.#selections, selection].slice(-MOST);
  }

  shown(selection: Reading): void {
    this.#selections = [selection];
  }

  concern(change: Change | undefined): boolean {
    // After this many discarded renderings, the selection that is shown may have been forgotten.
    if (!change || this.#selections.length === MOST) return true;
    return this.#selections.some(({ reads }) => reads.concern(change));
  }
}

/** Discarded renderings are rare, so few selections are remembered. */
const MOST = 8;
