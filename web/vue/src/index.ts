/**
 * Rooms of Groupwire in Vue: refs that change only if what they show has changed.
 *
 * @packageDocumentation
 */

import { connect, GroupwireError } from "groupwire";
import type { Connect, DefinedRoom, RoomDefinition } from "groupwire/schema";
import { RoomHandle, type RoomOptions, type Store } from "groupwire/store";
import { inject, onMounted, onScopeDispose, provide, shallowRef, type InjectionKey, type ShallowRef } from "vue";

export { shallow, type RoomHandle, type Store } from "groupwire/store";

/** The options of {@link provideRoom}. */
export interface ProvideOptions<D extends RoomDefinition> extends Omit<RoomOptions<D>, "connect" | "room"> {
  /** Default: that of `groupwire`. In tests that of a simulation. */
  readonly connect?: Connect;
}

const keys = new WeakMap<object, symbol>();

/**
 * Gives a room to a component and its children. It connects when the component is mounted, so that
 * a server renders the first state. Components with one room share a connection, which is closed a
 * second after the last of them is gone.
 *
 * @example
 * ```ts
 * const room = provideRoom(board, { url: "wss://example.com", name: "demo" });
 * const names = useStore(room.others((others) => others.map(({ presence }) => presence?.name)));
 * ```
 */
export function provideRoom<D extends RoomDefinition>(room: DefinedRoom<D>, options: ProvideOptions<D>): RoomHandle<D> {
  const handle = new RoomHandle<D>({ connect, ...options, room });
  provide(keyOf(room), handle);
  let release = (): void => {};
  onMounted(() => (release = handle.retain()));
  onScopeDispose(() => release());
  return handle;
}

/** The room that a component above has provided. */
export function useRoom<D extends RoomDefinition>(room: DefinedRoom<D>): RoomHandle<D> {
  const key = keys.get(room) as InjectionKey<RoomHandle<D>> | undefined;
  const handle = key && inject(key, undefined);
  if (!handle)
    throw new GroupwireError("no-provider", "own", "useRoom: no component above provides this room by provideRoom");
  return handle;
}

/** A store of a room as a ref. */
export function useStore<Value>(store: Store<Value>): Readonly<ShallowRef<Value>> {
  if (typeof (store as Partial<Store<Value>> | undefined)?.get !== "function")
    throw new GroupwireError("invalid-argument", "own", "useStore takes a store, such as `room.others()`");
  // What a server has rendered comes first, because the page goes on from it.
  const shown = shallowRef(store.first());
  const update = (): void => void (shown.value = store.get());
  let stop = (): void => {};
  onMounted(() => {
    stop = store.subscribe(update);
    update();
  });
  onScopeDispose(() => stop());
  return shown;
}

function keyOf<D extends RoomDefinition>(room: DefinedRoom<D>): InjectionKey<RoomHandle<D>> {
  const known = keys.get(room) ?? Symbol("groupwire");
  keys.set(room, known);
  return known;
}
