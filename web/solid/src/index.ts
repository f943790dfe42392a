/**
 * Rooms of Groupwire in Solid: signals that change only if what they show has changed.
 *
 * @packageDocumentation
 */

import { connect, GroupwireError } from "groupwire";
import type { Connect, DefinedRoom, RoomDefinition } from "groupwire/schema";
import { RoomHandle, type RoomOptions, type Store } from "groupwire/store";
import {
  createComponent,
  createContext,
  createSignal,
  onCleanup,
  onMount,
  splitProps,
  useContext,
  type Accessor,
  type Context,
  type JSX,
} from "solid-js";

export { shallow, type RoomHandle, type Store } from "groupwire/store";

/** The properties of {@link RoomProvider}. They are read once. */
export interface RoomProviderProps<D extends RoomDefinition> extends Omit<RoomOptions<D>, "connect"> {
  /** Default: that of `groupwire`. In tests that of a simulation. */
  readonly connect?: Connect;
  readonly children?: JSX.Element;
}

type AnyContext = Context<RoomHandle<RoomDefinition> | undefined>;

const contexts = new WeakMap<object, AnyContext>();

/**
 * Gives a room to the components in it. It connects when it is mounted, so that a server renders
 * the first state. Providers of one room share a connection, which is closed a second after the
 * last of them is gone.
 *
 * @example
 * ```tsx
 * <RoomProvider room={board} url="wss://example.com" name="demo">
 *   <People />
 * </RoomProvider>
 * ```
 */
export function RoomProvider<D extends RoomDefinition>(props: RoomProviderProps<D>): JSX.Element {
  // The children must not be read before the context is there.
  const [, options] = splitProps(props, ["children"]);
  const handle = new RoomHandle<D>({ connect, ...options });
  onMount(() => onCleanup(handle.retain()));
  return createComponent(contextOf(props.room).Provider, {
    value: handle as unknown as RoomHandle<RoomDefinition>,
    get children() {
      return props.children;
    },
  });
}

/** The room of the provider around a component. */
export function useRoom<D extends RoomDefinition>(room: DefinedRoom<D>): RoomHandle<D> {
  const context = contexts.get(room);
  const handle = context && useContext(context);
  if (!handle)
    throw new GroupwireError(
      "no-provider",
      "own",
      "useRoom: there is no RoomProvider of this room around the component",
    );
  return handle as unknown as RoomHandle<D>;
}

/** A store of a room as a signal. */
export function createStored<Value>(store: Store<Value>): Accessor<Value> {
  if (typeof (store as Partial<Store<Value>> | undefined)?.get !== "function")
    throw new GroupwireError("invalid-argument", "own", "createStored takes a store, such as `room.others()`");
  // What a server has rendered comes first, because the page goes on from it.
  const [shown, show] = createSignal<Value>(store.first());
  const update = (): void => void show(() => store.get());
  onMount(() => {
    onCleanup(store.subscribe(update));
    update();
  });
  return shown;
}

function contextOf<D extends RoomDefinition>(room: DefinedRoom<D>): AnyContext {
  const known = contexts.get(room) ?? (createContext() as AnyContext);
  contexts.set(room, known);
  return known;
}
