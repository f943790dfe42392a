/** While people talk, pointers have to keep up with what they say: the channel needs more then, for everybody. */

import type { Channel, Qos } from "groupwire";
import { isRecord } from "../../../common/parse";

type Needs = Partial<Omit<Qos, "kind" | "overflow" | "private">>;

/** A pointer is worth watching at 25 positions a second and worth nothing after a quarter of one. */
export const CALM = { minRate: 0, maxRate: 25, loss: 0.05, deadline: 250 } satisfies Needs;

/** "This one, and that one": as Table 1 of the AFEC paper has it, a little stricter. */
export const TALKING = { minRate: 20, maxRate: 30, loss: 0.05, deadline: 100 } satisfies Needs;

interface Person {
  readonly id: number;
  readonly presence: unknown;
  readonly away: boolean;
}

/** Says what the pointer channel needs, when this participant is the one to say it. */
export class Talking {
  /** This participant talks. */
  isOn = false;

  constructor(private readonly pointer: Channel) {}

  /** Somebody talks, as far as the channel has been told. */
  get isHeard(): boolean {
    return this.pointer.qos.deadline === TALKING.deadline;
  }

  toggle(self: Person | undefined, others: Iterable<Person>): void {
    this.isOn = !this.isOn;
    this.settle(self, others, true);
  }

  /** Whoever began or stopped says so, else the first in the room: a talker may have gone without a word. */
  settle(self: Person | undefined, others: Iterable<Person>, isMine = false): void {
    const here = [...others].filter(({ away }) => !away);
    const isTalking = this.isOn || here.some(({ presence }) => talks(presence));
    const isFirst = self !== undefined && here.every(({ id }) => id > self.id);
    if (isTalking !== this.isHeard && (isMine || isFirst)) this.pointer.setQos(isTalking ? TALKING : CALM);
  }
}

function talks(presence: unknown): boolean {
  return isRecord(presence) && presence.talking === true;
}
