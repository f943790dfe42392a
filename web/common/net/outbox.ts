/** Finished operations must not get lost when the network is slow: what is refused now waits here, in order. */

import type { Channel } from "groupwire";

export class Outbox {
  private readonly waiting: string[] = [];

  constructor(private readonly channel: Channel) {}

  send(text: string): void {
    this.waiting.push(text);
    this.flush();
  }

  /** To be called on `drain`. */
  flush(): void {
    for (let text = this.waiting[0]; text !== undefined; text = this.waiting[0]) {
      if (this.channel.send(text) === "not-now") return;
      this.waiting.shift();
    }
  }
}
