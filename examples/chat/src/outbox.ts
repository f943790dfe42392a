/** The own messages that the room has not ordered yet. */

import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useRoom } from "./room";

type Room = NonNullable<ReturnType<typeof useRoom>>;

/**
 * The unordered operations of this program on the room's shared data, each with the id of the
 * message that it sends.
 */
class Outbox {
  readonly #room: Room;
  /** `undefined` is an operation that sends no message. */
  #waiting: readonly (string | undefined)[] = [];

  constructor(room: Room) {
    this.#room = room;
  }

  /** Changes the shared data, which makes an operation, or none if nothing is changed. */
  perform(change: (shared: Room["shared"]) => void, id: string | undefined): void {
    const { shared } = this.#room;
    const before = shared.pending;
    shared.batch(() => change(shared));
    const made = Array.from({ length: shared.pending - before }, () => id);
    this.#waiting = [...this.#waiting, ...made];
  }

  /**
   * The room orders the operations of a program in their order, so the last `pending` ones are
   * still waiting.
   */
  get waiting(): readonly (string | undefined)[] {
    const done = this.#waiting.length - this.#room.shared.pending;
    if (done > 0) this.#waiting = this.#waiting.slice(done);
    return this.#waiting;
  }

  readonly subscribe = (listener: () => void): (() => void) => this.#room.shared.subscribe(listener);
}

const outboxes = new WeakMap<Room, Outbox>();

function outboxOf(room: Room): Outbox {
  const outbox = outboxes.get(room) ?? new Outbox(room);
  outboxes.set(room, outbox);
  return outbox;
}

const NONE: readonly undefined[] = [];

/** The ids of own messages that are on their way. */
export function useWaiting(): readonly (string | undefined)[] {
  const room = useRoom();
  const outbox = useMemo(() => room && outboxOf(room), [room]);
  return useSyncExternalStore(
    useCallback((listener) => outbox?.subscribe(listener) ?? (() => {}), [outbox]),
    () => outbox?.waiting ?? NONE,
    () => NONE,
  );
}

/**
 * Returns a function that changes the shared data by `change`. `id` names the message that this
 * sends, if it sends one.
 */
export function useOperation(): (change: (shared: Room["shared"]) => void, id?: string) => void {
  const room = useRoom();
  return useCallback((change, id) => void (room && outboxOf(room).perform(change, id)), [room]);
}
