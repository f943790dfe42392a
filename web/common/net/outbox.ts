/**
 * A queue of finished operations that `send` has refused (`not-now`): they are sent later, in order, so that none is
 * lost.
 */

import type { Channel } from "groupwire";

export class Outbox {
  private readonly waiting: string[] = [];

  constructor(private readonly channel: Channel) {}

  send(text: string): void {
    this.waiting.push(text);
    this.flush();
  }

  /** Sends what waits; to be called on the event `drain`. */
  flush(): void {
    for (let text = this.waiting[0]; text !== undefined; text = this.waiting[0]) {
      if (this.channel.send(text) === "not-now") return;
      this.waiting.shift();
    }
  }
}
