/**
 * While people talk, pointers must keep up with their words. The pointer channel then has a
 * stricter QoS for everybody.
 */

import type { Channel, Qos } from "groupwire";
import { isRecord } from "../../../common/parse";

type Needs = Partial<Omit<Qos, "kind" | "overflow" | "private">>;

/** The normal QoS: a pointer is useful at 25 positions a second and of no use after 250 ms. */
export const CALM = { minRate: 0, maxRate: 25, loss: 0.05, deadline: 250 } satisfies Needs;

/**
 * The QoS while somebody says "this one, and that one": Table 1 of the AFEC paper, slightly
 * stricter.
 */
export const TALKING = { minRate: 20, maxRate: 30, loss: 0.05, deadline: 100 } satisfies Needs;

interface Person {
  readonly id: number;
  readonly presence: unknown;
  readonly away: boolean;
}

/** Sets the QoS of the pointer channel when this participant is the one to do so. */
export class Talking {
  /** True if this participant talks. */
  isOn = false;

  constructor(private readonly pointer: Channel) {}

  /** True if somebody talks, according to the channel's QoS. */
  get isHeard(): boolean {
    return this.pointer.qos.deadline === TALKING.deadline;
  }

  toggle(self: Person | undefined, others: Iterable<Person>): void {
    this.isOn = !this.isOn;
    this.settle(self, others, true);
  }

  /**
   * The participant who began or stopped to talk sets the QoS. Otherwise the first one in the room
   * does, because a talker may have left without a message.
   */
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
