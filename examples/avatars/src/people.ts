/** The room: who is here, where they are, and what they say. */

import { awareness } from "groupwire";
import { follow, sendReckoned, type Follow, type FollowedView, type ReckonedSender } from "groupwire/motion";
import { defineRoom, type Connect, type TypedRoom } from "groupwire/schema";
import { z } from "zod";
import type { Point } from "./walker";

/** Colours of clothes on which white text is readable. */
export const COLORS = ["#175cd3", "#b42318", "#067647", "#6938ef", "#c11574", "#b54708", "#0e7090", "#475467"];

const Person = z.object({
  name: z.string().max(24),
  color: z.enum(COLORS),
  /** What the person is saying now. */
  says: z.string().max(100).optional(),
});
export type Person = z.infer<typeof Person>;

/**
 * Places are sent by dead reckoning: a place and a velocity, only when the others' predictions err
 * by more than this (units).
 */
const ERROR = 4;

const definition = {
  presence: Person,
  channels: { walk: awareness({ maxRate: 25, loss: 0.01, deadline: 250 }) },
};
export const meadow = defineRoom(definition);
type Meadow = TypedRoom<typeof definition>;

/**
 * The ways to show others. `predicted` is the right one for people who walk; the other two are for
 * comparison.
 */
export const WAYS = ["predicted", "eased", "raw"] as const;
export type Way = (typeof WAYS)[number];

/** Another person, as shown now. */
export interface Shown extends Person {
  readonly id: number;
  readonly place: Point;
}

export class People {
  readonly room: Meadow;
  #me: Person;
  readonly #sender: ReckonedSender;
  readonly #follows: Readonly<Record<Way, Follow>>;

  /** Joins. Call {@link People.move} at once: a person without a place is not shown. */
  constructor(connect: Connect, server: string, name: string, me: Person) {
    this.#me = me;
    this.room = meadow.join(connect, server, name, { presence: me });
    const { room } = this.room;
    const walk = room.channel("walk");
    this.#sender = sendReckoned(walk, { error: ERROR });
    // The other ways ignore the velocity.
    const read = (message: { json<T>(): T }) => message.json<{ p: number[] }>().p;
    this.#follows = {
      predicted: follow(room, walk, { mode: "reckon" }),
      eased: follow(room, walk, { mode: "damped", read }),
      raw: follow(room, walk, { mode: "raw", read }),
    };
    // On a room that is closed, such as by a server that refuses this page, nothing can be sent.
    room.on("status", (status) => status === "closed" && this.#sender.stop());
  }

  get me(): Person {
    return this.#me;
  }

  /** Sends this user's place, if it has changed enough. */
  move(place: Point): void {
    if (this.room.room.status !== "closed") this.#sender.move(place);
  }

  /** Changes what the others see of me. */
  change(change: Partial<Person>): void {
    this.#me = { ...this.#me, ...change };
    this.room.setPresence(this.#me);
  }

  /** The others, at their places now. */
  shown(way: Way): Shown[] {
    return this.#follows[way].views().flatMap((view) => this.#shown(view) ?? []);
  }

  leave(): void {
    this.#sender.stop();
    for (const way of WAYS) this.#follows[way].stop();
    this.room.room.leave();
  }

  #shown({ sender: id, place: [x, y], isGone }: FollowedView): Shown | undefined {
    const person = this.room.participants.get(id)?.presence;
    if (!person || isGone || x === undefined || y === undefined) return undefined;
    return { ...person, id, place: [x, y] };
  }
}
