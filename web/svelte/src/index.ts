/**
 * Rooms of Groupwire in Svelte: stores and runes that change only if what they show has changed.
 *
 * @packageDocumentation
 */

import { connect, GroupwireError } from "groupwire";
import type { Connect, DefinedRoom, RoomDefinition } from "groupwire/schema";
import { RoomHandle, type RoomOptions, type Store } from "groupwire/store";
import { getContext, onMount, setContext } from "svelte";
import { createSubscriber } from "svelte/reactivity";

export { shallow, type RoomHandle, type Store } from "groupwire/store";

/** The options of {@link setRoom}. */
export interface SetOptions<D extends RoomDefinition> extends Omit<RoomOptions<D>, "connect" | "room"> {
  /** Default: that of `groupwire`. In tests that of a simulation. */
  readonly connect?: Connect;
}

/**
 * Gives a room to a component and its children. It connects when the component is mounted, so that
 * a server renders the first state. Components with one room share a connection, which is closed a
 * second after the last of them is gone.
 *
 * @example
 * ```ts
 * const room = setRoom(board, { url: "wss://example.com", name: "demo" });
 * const names = shown(room.others((others) => others.map(({ presence }) => presence?.name)));
 * ```
 */
export function setRoom<D extends RoomDefinition>(room: DefinedRoom<D>, options: SetOptions<D>): RoomHandle<D> {
  const handle = new RoomHandle<D>({ connect, ...options, room });
  setContext(room, handle);
  onMount(() => handle.retain());
  return handle;
}

/** The room that a component above has set. */
export function getRoom<D extends RoomDefinition>(room: DefinedRoom<D>): RoomHandle<D> {
  const handle = getContext<RoomHandle<D> | undefined>(room);
  if (!handle) throw new GroupwireError("no-provider", "own", "getRoom: no component above sets this room by setRoom");
  return handle;
}

/** A value to show: `current` in runes and templates, `$name` as a store. */
export interface Shown<Value> {
  readonly current: Value;
  /**
   * As Svelte's stores have it: calls `run` now and after each change. Returns a function that ends
   * it.
   */
  readonly subscribe: (run: (value: Value) => void) => () => void;
}

/** A store of a room for Svelte. */
export function shown<Value>(store: Store<Value>): Shown<Value> {
  if (typeof (store as Partial<Store<Value>> | undefined)?.get !== "function")
    throw new GroupwireError("invalid-argument", "own", "shown takes a store, such as `room.others()`");
  const track = createSubscriber((update) => changesOf(store, update));
  return {
    get current() {
      track();
      return store.get();
    },
    subscribe(run) {
      run(store.get());
      return changesOf(store, () => run(store.get()));
    },
  };
}

/** Calls `changed` when the store has another value. */
function changesOf<Value>(store: Store<Value>, changed: () => void): () => void {
  let last = store.get();
  return store.subscribe(() => {
    const value = store.get();
    if (Object.is(value, last)) return;
    last = value;
    changed();
  });
}
