/** The hooks, with the types of a room. */

import type { Participant, RoomError, SendOptions, Sent } from "groupwire";
import type {
  ChannelsOf,
  Connect,
  Invalid,
  PresenceIn,
  PresenceOut,
  RoomDefinition,
  SharedOf,
  TypedMessage,
  TypedRoom,
} from "groupwire/schema";
import type { By, InputOf, IsEqual, Others, Positions, RoomOptions, RoomStatus, Self, ValueOf } from "groupwire/store";
import type { DependencyList, ReactNode } from "react";

/**
 * The properties of `RoomProvider`. Another `room`, `url`, `name`, `identity`, or `token` that is a
 * text leads to another room.
 */
export interface RoomProviderProps<D extends RoomDefinition> extends Omit<RoomOptions<D>, "connect"> {
  /** Default: that of `groupwire`. In tests that of a simulation. */
  readonly connect?: Connect;
  /**
   * Is shown until the room is ready, also by a server. Without it, the children are shown at once,
   * with nobody and nothing in the room.
   */
  readonly fallback?: ReactNode;
  /** Takes errors of the room, which are otherwise written to the console. */
  readonly onError?: (error: RoomError) => void;
  /** Takes what others sent and does not fit a schema. */
  readonly onInvalid?: (invalid: Invalid) => void;
  readonly children?: ReactNode;
}

/** Sends on a channel. It stays the same function. */
export type Send<D extends RoomDefinition, Name extends keyof ChannelsOf<D>> = (
  value: InputOf<D, Name>,
  options?: SendOptions,
) => Sent;

/**
 * The hooks of a room. Those with a selector render only if what it returns has changed, by
 * `isEqual`: by default arrays, plain objects, maps and sets are compared by their parts. Selectors
 * must be pure.
 */
export interface Hooks<D extends RoomDefinition> {
  /**
   * Shows a room to the hooks in its children. Connects when it is mounted; providers of one room
   * share a connection, which is closed a second after the last of them is gone.
   */
  readonly RoomProvider: (props: RoomProviderProps<D>) => ReactNode;
  /**
   * The room itself, for everything that has no hook; undefined before it connects. Changes of the
   * room cause no rendering.
   */
  readonly useRoom: () => TypedRoom<D> | undefined;
  /**
   * The state of the connection: whether something is unsaved, which transport is in use, how many
   * participants there are.
   */
  readonly useRoomStatus: {
    (): RoomStatus;
    <Value>(select: (status: RoomStatus) => Value, isEqual?: IsEqual<Value>): Value;
  };
  /** This participant. */
  readonly useSelf: {
    (): Self<PresenceIn<D>>;
    <Value>(select: (self: Self<PresenceIn<D>>) => Value, isEqual?: IsEqual<Value>): Value;
  };
  /** This participant's presence, and the function that changes it, which stays the same. */
  readonly usePresence: () => readonly [
    presence: PresenceIn<D> | undefined,
    setPresence: (next: PresenceIn<D> | ((now: PresenceIn<D> | undefined) => PresenceIn<D>)) => void,
  ];
  /** The other participants, or what a selector makes of them. */
  readonly useOthers: {
    (): Others<D>;
    <Value>(select: (others: Others<D>) => Value, isEqual?: IsEqual<Value>): Value;
  };
  /** The ids of the others. With `by`, one id for each person, who may have several pages open. */
  readonly useOtherIds: (options?: { readonly by?: By<PresenceOut<D>> }) => readonly number[];
  /** What a selector makes of another participant; undefined if it is not here. */
  readonly useOther: <Value>(
    id: number,
    select: (other: Participant<PresenceOut<D>>) => Value,
    isEqual?: IsEqual<Value>,
  ) => Value | undefined;
  /**
   * The value that a selector computes from the shared data. It runs again only after changes of
   * what it has read.
   */
  readonly useShared: <Value>(select: (shared: SharedOf<D>) => Value, isEqual?: IsEqual<Value>) => Value;
  /** A function that changes the shared data, as one operation. It changes only if `deps` do. */
  readonly useMutation: <All extends readonly unknown[], Result>(
    mutate: (shared: SharedOf<D>, ...all: All) => Result,
    deps: DependencyList,
  ) => (...all: All) => Result;
  /** Undo and redo of own operations. */
  readonly useUndo: () => {
    readonly undo: () => boolean;
    readonly redo: () => boolean;
    readonly canUndo: boolean;
    readonly canRedo: boolean;
  };
  /**
   * Calls `listener` for each message of a channel, always the one of the last rendering. Returns a
   * function that sends.
   */
  readonly useChannel: <Name extends keyof ChannelsOf<D> & string>(
    name: Name,
    listener?: (message: TypedMessage<ValueOf<D, Name>>) => void,
  ) => Send<D, Name>;
  /**
   * Calls `draw` in animation frames, with the newest value of each participant who is here,
   * whenever one of them has changed: nothing renders. Returns a function that sends.
   */
  readonly usePositions: <Name extends keyof ChannelsOf<D> & string>(
    name: Name,
    draw: (positions: Positions<ValueOf<D, Name>>) => void,
  ) => Send<D, Name>;
}
